/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Make a session that begins with a copy of another one's conversation.
 */
#pragma once

#include "engine/place/container/resolve.h"

struct tree_order; /* engine/workspace/tree.h */

/* What is said of a fork.  All borrowed. */
struct lifecycle_branch {
	const char *title; /* NULL: "<title>-fork", made unique */
	const char *group; /* NULL: the same */
	/* The container of the fork of a session on this host; NULL: it lives where this one does.
	 */
	const struct container_order *container;
	bool on_host; /* it must live on this host: refused for a session in a container */
	/* NULL: it has a tree to itself if this one has, and of the same kind */
	const struct tree_order *tree;
};

/* Make a stopped instance whose first start begins with a copy of this one's conversation; this one
 * is left as it is, whether it runs or not.  In a container the fork has its own container of the
 * same recipe, and its own home with a copy of the transcript.  A tree to itself begins at the
 * commit of this one's directory, and the conversation comes along.  ERROR_INVALID: the agent
 * cannot, or there is no conversation with a turn in it.  *ret is the caller's. */
int lifecycle_fork(struct deck *deck, const char *base, const struct lifecycle_branch *branch,
		   struct instance **ret, struct error *err);
