/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which files are surely as the index has them.  libgit2 looks at each file with its whole path,
 * and reads attributes and runs filters where a date is new.  Our walk has seen each file already,
 * and compares the bytes themselves: what is equal to its blob is in the repository, whatever a
 * filter would make of it.
 */
#pragma once

#include "assess/walk.h"

/* When the index was written.  Before libgit2 reads it. */
struct timespec proof_index_time(const struct repository *repository);

/* Find them, and note them in the tree; also which files the index has.  Flags of the index that
 * hide changes are cleared, in memory only, as this index is never written.  True: everything in
 * the index is unchanged, and the tree has nothing else. */
bool proof_find(const struct repository *repository, git_index *index, struct timespec written,
		struct tree *tree);

/* Is what the index has the tree of HEAD?  By its hash, which takes a third of the time of a
 * comparison.  False: perhaps. */
bool proof_is_committed(const struct repository *repository, git_index *index);

/* Let libgit2 take the unchanged files for that (GIT_INDEX_ENTRY_VALID).  But it then overlooks
 * that such a file is staged, so what is staged is unmarked again. */
void proof_mark(const struct tree *tree);
void proof_unmark(git_index *index, const char *path);
