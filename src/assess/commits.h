/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A set of commits, and what can be reached from it.
 */
#pragma once

#include "assess/look.h"

/* Zero-initialised is empty. */
struct commits {
	git_oid *oids;
	size_t count;
	bool is_sorted;
};

/* The commit that an object is or leads to (a tag).  False: there is none, or it cannot be read;
 * git_error_last() says which. */
bool commits_peel(git_repository *git, const git_oid *oid, git_oid *ret);

void commits_add(struct commits *commits, const git_oid *oid);
/* Sort, so that commits_have() is fast, and drop duplicates. */
void commits_settle(struct commits *commits);
/* After commits_settle(). */
bool commits_have(const struct commits *commits, const git_oid *oid);

/* Commits reachable from `from` and from nothing in `without`, newest first: how many, and the
 * first of them.  Negative: libgit2 failed, or an object is missing. */
enum { COMMITS_LISTED = 60 };
struct commits_missing {
	int64_t count;
	git_oid first[COMMITS_LISTED];
};
int commits_missing(const struct repository *repository, const struct commits *from,
		    const struct commits *without, struct commits_missing *ret);

void commits_free(struct commits *commits);
#define cleanup_commits CLEANUP(commits_free)
