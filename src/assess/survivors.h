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
};

/* Collect them.  False: the finding says why. */
bool survivors_of(const struct repository *repository, struct survivors *ret);

/* Can this remote-tracking branch be believed?  Anybody who can write to the tree can write it. */
bool survivors_believe(const struct repository *repository, const char *ref, const git_oid *oid);

void survivors_free(struct survivors *survivors);
#define cleanup_survivors CLEANUP(survivors_free)
