/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session whose agent has committed something, and its merge, also one that is killed.
 */
#pragma once

#include "unit/tree-fixture.h"

#include "engine/workspace/bring.h"

#include <sys/wait.h>

#define TREE "default/trees/" ID "/project"
#define MINE "git -c user.name=a -c user.email=a@b"
#define DO   "git add -A && " MINE " commit -q -m"

/* A session whose agent has committed the file b. */
static inline struct instance *begin(struct desk *desk, enum workspace_kind kind)
{
	struct instance *instance = new_tree(desk, kind);
	do_sh(desk,
	      "cd project && git config user.name u && git config user.email u@b && cd ../" TREE
	      " && echo b >b && " DO " agent");
	return instance;
}

static const struct bring_order plain;

static inline struct bring_result merge_with(struct desk *desk, const struct instance *instance,
					     const struct bring_order *order)
{
	struct bring_result result = { 0 };
	cleanup_error struct error err = { 0 };
	if (bring_merge(&desk->deck, instance, order, &result, &err) < 0)
		fail_msg("%s", err.message);
	return result;
}

static inline void assert_merge(struct desk *desk, const struct instance *instance,
				const struct bring_order *order, enum bring_outcome expected)
{
	cleanup_bring_result struct bring_result result = merge_with(desk, instance, order);
	assert_int_equal(result.outcome, expected);
}

static inline void assert_refused(struct desk *desk, const struct instance *instance,
				  const struct bring_order *order, enum error_code code,
				  const char *why)
{
	cleanup_error struct error err = { 0 };
	struct bring_result result = { 0 };
	assert_int_equal(bring_merge(&desk->deck, instance, order, &result, &err), -1);
	if (err.code != code || !strstr(err.message, why))
		fail_msg("%s", err.message);
}

static inline int merge_it(struct desk *desk, const struct instance *instance)
{
	cleanup_bring_result struct bring_result result = { 0 };
	return bring_merge(&desk->deck, instance, &plain, &result, NULL);
}

/* Returns whether it was killed. */
static inline bool do_and_die(struct desk *desk, const struct instance *instance,
			      int (*act)(struct desk *desk, const struct instance *instance))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(act(desk, instance) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}
