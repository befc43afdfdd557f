/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The content of a linked work tree on its way to another repository: one commit, that of the
 * cargo.  Its tree is the files as they are, with the untracked ones and without the ignored ones.
 * Its parents are the commit that is checked out, a commit of what is staged, and the stashes of
 * the branch.  The same content is the same commit, so two equal names prove that nothing is
 * missing.
 *
 * An agent may have worked in the tree: git reads it with a Git directory of ours, without hooks,
 * filters and conversions.
 */
#pragma once

#include "base/text.h"

struct cargo_tree {
	const char *source; /* the repository */
	const char *path;   /* the work tree */
	const char *record; /* git's record of it */
	const char *branch; /* that is checked out */
	const char *base;   /* commit at which it began */
	int desk;           /* a directory that is ours, for CARGO_DESK.  Borrowed */
	const char *place;  /* its path */
};
#define CARGO_DESK ".tmp-cargo" /* a rest of it is removed at the next use */

/* Write the commit into the repository, where nothing names it.  The tree does not change.
 * ERROR_INVALID: it has something that is not carried: a submodule, another repository, files that
 * a sparse checkout leaves out, or a merge in progress.  *ret: the caller frees. */
int cargo_pack(const struct cargo_tree *tree, char **ret, struct error *err);

struct cargo {
	char *files; /* tree object */
	char *head, *staged;
	char *branch, *base;
	struct strvec stashes; /* oldest first */
};
void cargo_clear(struct cargo *cargo);
#define cleanup_cargo CLEANUP(cargo_clear)
/* Read what another machine may have written.  ERROR_CORRUPT: it is no cargo, or a part of it is
 * not in the repository. */
int cargo_read(const char *source, const char *commit, struct cargo *ret, struct error *err);

/* Does its head come from its base, as far as the repository has both?  A partial clone fetches
 * nothing for the answer. */
int cargo_comes_from(const char *source, const struct cargo *cargo, bool *ret, struct error *err);

/* Write the files that the index of a new tree names, and no others, without filters.  Killed in
 * between, it can be repeated. */
int cargo_check_out(const struct cargo_tree *tree, struct error *err);

/* Make the tree, which has its branch checked out and nothing in progress, what the cargo is, and
 * prove it.  Ignored files stay.  Killed in between, it is a mixture of both; the next call
 * completes it, with is_again.  ERROR_EXISTS: an ignored file is where one of the cargo belongs. */
int cargo_lay(const struct cargo_tree *tree, const struct cargo *cargo, bool is_again,
	      struct error *err);

/* Name the content by a branch of its own, without changing the tree: its commits, and one more for
 * what was not committed.  The stashes join those of the repository.  A branch that has it already
 * stays.  CARGO_TAKEN: the branch has something else. */
enum { CARGO_TAKEN = 1 };
int cargo_keep(const struct cargo_tree *tree, const struct cargo *cargo, const char *branch,
	       struct error *err);

/* The commits of the newest refs, for cargo_send(). */
int cargo_list(const char *source, struct strvec *ret, struct error *err);
/* May this be the name of a commit? */
bool cargo_is_commit(const char *name);
/* Write the commit to standard output, as a pack, with what it needs and these commits (names
 * joined by commas) do not have. */
int cargo_send(const char *source, const char *commit, const char *have, struct error *err);
/* Read a pack from standard input into the repository, where nothing names what comes.
 * ERROR_CORRUPT: it was cut off. */
int cargo_receive(const char *source, struct error *err);
