/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ask agentdeck-assess.  It is a process of its own: a hostile tree can make it crash or stall.
 */
#pragma once

#include "model/workspace/changes.h"
#include "model/workspace/origin.h"
#include "model/workspace/verdict.h"

/* How long it may take, for timeout_ms.  The program gives up a little earlier, with what it has
 * found. */
enum { ASSESS_TIMEOUT_MS = 20000 };

/* The environment variable that names another program, for tests. */
#define ASSESS_PROGRAM_VARIABLE "AGENTDECK_ASSESS"

/* May the tree of this record be deleted?  Every failure is a verdict, too: unsafe, with the
 * reason. *ret: verdict_free(). */
void assess_verdict(const struct origin *origin, int timeout_ms, struct verdict *ret);

/* May its branch be deleted?  Only source, branch and base (a commit of the source) are used: the
 * tree may be gone. */
void assess_branch(const struct origin *origin, int timeout_ms, struct verdict *ret);

/* What was made in it?  with_diff: also the differences, line by line.  ERROR_UNAVAILABLE: there is
 * no such program.  ERROR_CHILD: it gave no answer.  *ret: changes_free(). */
int assess_changes(const struct origin *origin, bool with_diff, int timeout_ms, struct changes *ret,
		   struct error *err);

/* Complete a record of a tree that was just made: its refs, remotes, stashes and rules.  Members
 * that say where it came from must be set.  ERROR_UNAVAILABLE: there is no such program. */
int assess_origin(struct origin *origin, int timeout_ms, struct error *err);
