/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was made in the tree: commits, and files that are in none.  With look->changes set, a look
 * collects this, and no findings but the unknown ones.
 */
#pragma once

#include "assess/look.h"

/* A file of a repository of the tree that is in no commit, as git status has it.  Calls are cheap;
 * changes_count_lines() completes them. */
void changes_note_file(const struct repository *repository, const char *code, const char *path);

/* Count the lines of this repository's files that were noted, and add their differences. */
void changes_count_lines(const struct repository *repository);

/* The commits of its HEAD or, if the tree is gone, of the record's branch. */
void changes_add_history(const struct repository *repository);
