/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/reconcile/reconcile-internal.h"
#include "engine/reconcile/reconcile.h"
#include "engine/workspace/branch.h"

static void compare(const struct branch_stray *branch, struct strays *strays)
{
	const struct branch_fate *fate = &branch->fate;
	const struct stray_facts facts = {
		.kind = STRAY_BRANCH,
		.presence = STRAY_THERE,
		.is_ours = true,
		.is_safe = fate->goes,
	};
	struct stray *stray = strays_add(strays, &facts, fate->name);
	cleanup_free char *why = TAKE_PTR(stray->why);
	stray->repository = xstrdup(branch->repository);
	stray->why = xasprintf("%s, and in %s %s", why, branch->repository, fate->why);
	if (fate->goes)
		return;
	const char *const words[] = { "git", "-C", branch->repository, "branch", "-D", fate->name };
	cleanup_strvec struct strvec argv = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strvec_push(&argv, words[i]);
	cleanup_free char *command = visible_argv(strvec_argv(&argv));
	stray->remedy = xasprintf("merge it, or delete it: %s", command);
}

void branches_compare(struct deck *deck, struct strays *strays)
{
	cleanup_branch_strays struct branch_strays branches = { 0 };
	cleanup_error struct error err = { 0 };
	if (branch_list_strays(deck, NULL, &branches, &err) < 0)
		deck_warn(deck, "branches without a session are not known: %s", err.message);
	for (size_t i = 0; i < branches.count; i++)
		compare(branches.items + i, strays);
}

int branches_fix(struct deck *deck, const struct stray *stray, struct error *err)
{
	const struct branch_stray branch = { stray->repository, { .name = stray->name } };
	const int r = branch_delete_stray(deck, &branch, err);
	return r == BRANCH_KEPT ? error_set(err, ERROR_BUSY,
					    "the branch has changed: run agentdeck "
					    "doctor --fix again")
				: r;
}
