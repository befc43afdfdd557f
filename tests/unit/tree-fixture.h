/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A desk whose directory "project" is a repository, and a session with a tree of it.
 */
#pragma once

#include "unit/report-fixture.h"

#include "base/child.h"
#include "driver/assess/assess.h"
#include "engine/workspace/tree.h"

/* In the desk's directory, where the repository is "project". */
static inline void do_sh(struct desk *desk, const char *script)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *all = xasprintf("cd '%s' && %s", desk->root, script);
	const struct child_request request = {
		.argv = (const char *const[]){ "sh", "-ec", all, NULL },
	};
	assert_int_equal(child_run(&request, 30000, &result, NULL), 0);
	if (result.exit_status != 0)
		fail_msg("%s: %s", script, strbuf_text(&result.errors));
}

#define COMMIT "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m"

/* The program of this build, and never one that is installed here.  Another name is no program:
 * then it is not known what would be lost. */
static inline void use_program(const char *name)
{
	cleanup_free char *program = xasprintf("%s/%s", or_empty(getenv("top_builddir")), name);
	setenv(ASSESS_PROGRAM_VARIABLE, program, 1);
	if (access(program, X_OK) != 0 && streq(name, "agentdeck-assess"))
		skip();
}

/* A session with a planned tree, saved. */
static inline struct instance *plan(struct desk *desk, enum workspace_kind kind)
{
	if (!getenv(ASSESS_PROGRAM_VARIABLE))
		use_program("agentdeck-assess");
	struct instance *instance = new_instance(ID, "Fix it");
	const struct tree_order order = { .kind = kind };
	replace_string(&instance->cwd, desk->cwd);
	do_sh(desk,
	      "cd project && git init -q -b main && echo a >a && git add a && " COMMIT " one");
	assert_int_equal(tree_plan(&desk->deck, &order, instance, NULL), 0);
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
	return instance;
}

static inline int ensure(struct desk *desk, struct instance *instance, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	return tree_ensure(&desk->deck, lock, instance, err);
}

/* The same, with its tree. */
static inline struct instance *new_tree(struct desk *desk, enum workspace_kind kind)
{
	struct instance *instance = plan(desk, kind);
	cleanup_error struct error err = { 0 };
	if (ensure(desk, instance, &err) < 0)
		fail_msg("%s", err.message);
	return instance;
}
