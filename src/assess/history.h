/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commits that only this tree has.
 *
 * What survives the deletion of the tree: for one whose refs stay, every ref of the source
 * repository but the branch that ends with the tree; for one whose refs go, the remote-tracking
 * branches that can be believed, and every ref of the source repository.  What must be reachable
 * from there: HEAD, every ref that goes, and every commit in the logs that go.
 */
#pragma once

#include "assess/look.h"

void history_add(const struct repository *repository);
/* Only the branch of the record, in the source repository. */
void history_add_branch(const struct repository *repository);
