/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is in the work tree and in no commit.
 */
#pragma once

#include "assess/staged.h"
#include "assess/walk.h"

/* Check that HEAD leads to a commit and its tree, or to nothing at all in a new repository: libgit2
 * takes a missing tree for an empty one.  False: the finding says why. */
bool status_check_head(const struct repository *repository);

/* A rebase, a merge and the like. */
void status_add_states(const struct repository *repository);

/* Files that differ from HEAD, and ignored ones; and what libgit2 does not list, by the walk, which
 * gets its marks (proof_mark()). */
void status_add_files(const struct repository *repository, const struct staged *staged,
		      struct tree *tree);

/* Add one file.  code: as git status has it. */
void status_add_file(const struct repository *repository, const char *code, const char *path,
		     const char *detail);

/* The commit that the index has for a submodule at this path, or NULL.  Borrowed from git. */
const git_oid *status_gitlink(git_repository *git, const char *path);
