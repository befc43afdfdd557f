/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of the checks: docs/workspaces.md.
 */
#pragma once

#include "assess/look.h"

/* Look at the whole tree of look->origin, with every repository in it. */
void assess_tree(struct look *look);

/* What was made in it; of a linked worktree that is gone, on its branch.  ret is empty. */
void assess_changes(struct look *look, struct changes *ret);

/* Look only at its branch, in the source repository.  The tree may be gone. */
void assess_branch(struct look *look);

/* Fill refs, remotes, stashes and exclude of look->origin with what the tree has now. A finding
 * says what could not be read. */
void assess_origin(struct look *look);
