/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The branch that agentdeck made for a worktree, when its session goes: `prune --branches`.
 *
 * The branch is deleted only if nothing is lost with it: its upstream has all of it, or the branch
 * that was checked out in the repository when it was made; or it has no commit that was not there
 * before, and another branch has that.
 */
#pragma once

#include "driver/store/trash.h"
#include "engine/deck/deck.h"

struct branch_fate {
	char *name; /* NULL: agentdeck has made none, or it is gone */
	char *tip;  /* its commit */
	char *why;  /* it goes, or stays */
	bool goes;
	bool has_commits; /* of its own: since it was made */
	bool has_session; /* another session works on it, or a removed one */
};
void branch_fate_free(struct branch_fate *fate);
#define cleanup_branch_fate CLEANUP(branch_fate_free)

/* The branch's worktree, which goes too, does not count, nor do the removed sessions that go with
 * it (NULL: there are none).  Any other session of the deck counts, in any profile and in the
 * trash, and also one that cannot be read. */
int branch_look(const struct deck *deck, const struct instance *instance, const struct trash *going,
		struct branch_fate *ret, struct error *err);

/* Which branches that agentdeck made may go with their worktrees. */
enum branches_wish {
	BRANCHES_STAY,
	BRANCHES_WITHOUT_COMMITS, /* of their own: the policy "clean" */
	BRANCHES_MERGED,          /* also those (--branches) */
};
/* Delete it if it goes and the wish allows it.  A warning says why one stays that the wish
 * includes.  Its tree is deleted already. */
int branch_delete(struct deck *deck, const struct instance *instance, enum branches_wish wish,
		  struct error *err);

/* A branch of no session, listed or removed, in any profile: "agentdeck/...", or one that is
 * remembered, and still where it was then. */
struct branch_stray {
	char *repository; /* a directory of it */
	struct branch_fate fate;
};
struct branch_strays {
	struct branch_stray *items;
	size_t count;
};
void branch_strays_free(struct branch_strays *strays);
#define cleanup_branch_strays CLEANUP(branch_strays_free)

/* Find them in the repositories of all sessions and remembered branches, and in the one of this
 * directory, or NULL. */
int branch_list_strays(const struct deck *deck, const char *directory, struct branch_strays *ret,
		       struct error *err);

/* Look again, and delete it.  BRANCH_KEPT: it does not go any more, as a warning says. */
enum { BRANCH_KEPT = 1 };
int branch_delete_stray(struct deck *deck, const struct branch_stray *stray, struct error *err);
