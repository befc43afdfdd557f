/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents have made in their trees: looked at on demand, and when an agent ends.  What
 * was seen is kept in the manifest, so that a list knows it at no cost.
 */
#pragma once

#include "engine/run/operation.h"
#include "model/workspace/changes.h"

struct work_order {
	bool with_diff;
	bool asks_forge; /* for the pull request; one that is not known now stays as it was */
	int timeout_ms;  /* 0: the usual */
};

/* Look at the tree of the instance, and take what is seen into its workspace.  Errors as
 * tree_changes().  *ret: changes_free(). */
int work_look(struct deck *deck, struct instance *instance, const struct work_order *order,
	      struct changes *ret, struct error *err);

/* Keep what was seen, unless that would say nothing new.  What another process works on, or what
 * cannot be written, stays as it is, without a message. */
void work_keep(struct deck *deck, const struct instance *instance);

/* Both, after the work was merged or pushed.  A failure changes nothing. */
void work_look_again(struct deck *deck, struct instance *instance, bool asks_forge);

/* Look at it while its run ends: the caller saves.  Not for long, and a failure is only logged. */
void work_look_at_end(const struct operation *operation);
