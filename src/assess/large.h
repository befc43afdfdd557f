/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Content that is not in git's objects: Git LFS and git-annex keep it beside them, in the git
 * directory, and a commit has only its name.  `git fetch` of a branch does not bring it along.
 */
#pragma once

#include "assess/commits.h"
#include "assess/survivors.h"

/* heads: everything from which the repository's own commits can be reached. */
void large_add(const struct repository *repository, const struct commits *heads,
	       const struct survivors *survivors);
