/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work that is on a default branch under other commits: a squash merge.
 */
#pragma once

#include "assess/commits.h"

/* Is the content of this commit part of one of these heads?  Either a commit there, since the two
 * parted, has its tree, or a merge of it would change nothing.  Equal patches are no proof, and a
 * branch that undid its own work has none. */
bool merged_into(const struct repository *repository, const git_oid *tip,
		 const struct commits *heads);
