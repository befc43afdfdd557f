/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bringing an agent's work home: from the tree of its session into a branch of the user's
 * repository, or to a remote of that.
 *
 * git runs in the user's repository only, never in the tree.  Each step is whole: a kill leaves
 * objects, or a branch that has the work, and the next call continues there.  Nothing takes the
 * session's lock: an agent may work meanwhile, and what it has committed by then is brought.
 */
#pragma once

#include "driver/forge/forge.h"
#include "engine/deck/deck.h"

struct bring_order {
	const char *into; /* branch of the repository; NULL: that which the tree began on */
	bool is_squash;
};

enum bring_outcome {
	BRING_MERGED,
	BRING_FORWARD, /* the branch had nothing of its own, and moved forward */
	BRING_ALREADY, /* there was nothing to merge */
	BRING_CONFLICT,
};

struct bring_result {
	enum bring_outcome outcome;
	char *branch; /* of the repository that has the work; NULL: none */
	char *commit; /* newest of the work */
	char *into;
	char *before, *after;    /* commits of into */
	struct strvec conflicts; /* files */
};
void bring_result_free(struct bring_result *result);
#define cleanup_bring_result CLEANUP(bring_result_free)

/* Merge what is committed in the instance's tree.  BRING_CONFLICT is no error: nothing has changed
 * but that a clone's branch was fetched.  ERROR_BUSY: the target cannot be moved, and the message
 * says what to do.  *ret: bring_result_free(). */
int bring_merge(struct deck *deck, const struct instance *instance, const struct bring_order *order,
		struct bring_result *ret, struct error *err);

/* Push the branch of the instance's tree from the repository, without force.  *ret_remote: where
 * to; result: branch and commit. */
int bring_push(struct deck *deck, const struct instance *instance, struct bring_result *ret,
	       char **ret_remote, struct error *err);

/* Find the pull request of a pushed branch, or make it.  *ret: forge_request_free(). */
int bring_request(const struct instance *instance, const struct bring_result *result,
		  struct pull_request *ret, struct error *err);

/* The pull request of the branch, if that was pushed from the repository.  FORGE_NONE: it has none,
 * or that cannot be asked. */
int bring_find_request(const struct instance *instance, const char *branch, int timeout_ms,
		       struct pull_request *ret, struct error *err);
