/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What still exists when the tree is deleted.
 */
#pragma once

#include "assess/commits.h"

struct survivors {
	struct commits commits;  /* settled */
	struct commits objects;  /* tags and others that are no commits; settled */
	struct commits defaults; /* heads of default branches, where work is merged to */
	struct commits uploaded; /* what Git LFS stores for these was not made here; settled */
	char *module; /* Git directory of the same submodule in the source repository, or NULL */
};

/* Collect them.  False: the finding says why. */
bool survivors_of(const struct repository *repository, struct survivors *ret);

/* How a remote-tracking branch says that its remote has this commit.  An agent can forge that, so a
 * remote that can be asked is asked instead. */
enum belief {
	BELIEF_NONE,
	BELIEF_PUSHED, /* its log says so */
	BELIEF_HAD,    /* the remote had it: it was fetched, or is as it was recorded */
};
enum belief survivors_believe(const struct repository *repository, const char *ref,
			      const git_oid *oid);

void survivors_free(struct survivors *survivors);
#define cleanup_survivors CLEANUP(survivors_free)
