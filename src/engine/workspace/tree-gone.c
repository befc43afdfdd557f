/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What to say of a tree that is not there.
 */
#include "engine/workspace/tree.h"

#include "driver/git/git.h"
#include "engine/deck/hint.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/tree-internal.h"

#include <errno.h>
#include <unistd.h>

bool tree_look_at_work(const struct workspace *workspace, struct tree_work *ret)
{
	struct tree_work work = { 0 };
	cleanup_free char *branch = xasprintf("refs/heads/%s", workspace->branch);
	cleanup_free char *base = xasprintf("refs/heads/%s", or_empty(workspace->base_branch));
	if (workspace->kind != WORKSPACE_WORKTREE || access(workspace->source, F_OK) != 0 ||
	    gitcmd_count_commits(workspace->source, workspace->base, workspace->branch,
				 &work.commits, NULL) < 0)
		return false;
	if (work.commits && workspace->base_branch)
		(void)gitcmd_is_ancestor(workspace->source, branch, base, &work.is_merged, NULL);
	*ret = work;
	return true;
}

char *tree_work_text(const struct workspace *workspace)
{
	struct tree_work work;
	if (!tree_look_at_work(workspace, &work) || work.commits == 0)
		return NULL;
	return xasprintf("%lld commit%s on %s%s%s", (long long)work.commits,
			 work.commits == 1 ? "" : "s", workspace->branch,
			 work.is_merged ? ", merged into " : "",
			 work.is_merged ? workspace->base_branch : "");
}

char *tree_git_text(const struct workspace *workspace, const char *verb, const char *what)
{
	cleanup_strvec struct strvec words = { 0 };
	const char *const all[] = { "git", "-C", workspace->source, verb, what };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		strvec_push(&words, all[i]);
	return visible_argv(strvec_argv(&words));
}

char *tree_source_gone(const struct deck *deck, const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	if (access(workspace->source, F_OK) == 0 || errno != ENOENT)
		return NULL;
	cleanup_free char *shown = visible(workspace->source);
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return xasprintf("its repository %s is gone: restore it, or, if it was moved, say where it "
			 "is with agentdeck session set %s path DIRECTORY",
			 shown, hint);
}

char *tree_record_gone(const struct deck *deck, const struct instance *instance)
{
	const struct gitcmd_linked tree = inside_linked(instance);
	if (instance->workspace->kind != WORKSPACE_WORKTREE || !gitcmd_record_is_missing(&tree))
		return NULL;
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return xasprintf("git's record of it is gone: agentdeck start %s makes it again, or says "
			 "why it cannot",
			 hint);
}

static const char *reason_of(const struct instance *instance)
{
	if (instance->ending.stage == ENDING_FREED)
		return "was freed when its agent ended";
	return instance->workspace->is_made ? "is gone" : "is not made yet";
}

char *tree_absence(const struct deck *deck, const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	if (!workspace || access(workspace->path, F_OK) == 0 || errno != ENOENT)
		return NULL;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	cleanup_free char *work = tree_work_text(workspace);
	cleanup_free char *log = tree_git_text(workspace, "log", workspace->branch);
	cleanup_free char *look = work ? xasprintf(", and %s shows the commits", log) : NULL;
	return xasprintf("the tree of %s %s%s%s: agentdeck start %s makes it%s%s", title,
			 reason_of(instance), work ? ", with " : "", or_empty(work), hint,
			 workspace->is_made || instance->ending.stage == ENDING_FREED ? " again"
										      : "",
			 or_empty(look));
}
