/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a container has of its session's own tree.  docs/workspaces.md, "In a container"
 *
 * Each place has the same path inside and outside.  The Git directory of a worktree is the user's.
 * Inside, that directory is read-only, so that no agent writes a hook or a configuration that runs
 * outside.  What a commit writes lies over it: objects, refs, their logs, and the worktree's own
 * record.  Of these, what would lead git outside to other places is read-only again.
 */
#pragma once

#include "base/error.h"
#include "driver/git/git.h"
#include "model/session/instance.h"

/* The instance's worktree, for git.  Its texts are the instance's. */
struct gitcmd_linked inside_linked(const struct instance *instance);
/* Repair git's record of the instance's worktree, which an agent in the container of an earlier
 * version could change.  Call this before git outside, or agentdeck-assess, reads the worktree.  A
 * failure is only logged: the reader then reports the problem. */
void inside_mend(const struct instance *instance);

/* Put the mounts of the tree, which was made just now, into the instance's recipe, if it has one.
 * Before any agent works in it: later its own files could name another Git directory.
 * ERROR_INVALID: the repository has objects elsewhere. */
int inside_settle(struct instance *instance, struct error *err);
