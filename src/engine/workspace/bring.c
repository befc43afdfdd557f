/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/bring.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/bring-internal.h"
#include "engine/workspace/tree-internal.h"
#include "engine/workspace/tree.h"

#include <unistd.h>

/* BRING_MS: of submodules, and of what Git LFS and git-annex store. */
enum { REQUEST_MS = 30 * 1000, BRING_MS = 60 * 60 * 1000 };

void bring_result_free(struct bring_result *result)
{
	free(result->branch);
	free(result->commit);
	free(result->into);
	free(result->before);
	free(result->after);
	strvec_clear(&result->conflicts);
	*result = (struct bring_result){ 0 };
}

/* ---- what is to be brought ------------------------------------------------------------------- */

static bool is_there(const struct workspace *workspace)
{
	return access(workspace->path, F_OK) == 0;
}

/* HEAD, or the branch, is then somewhere on the way. */
static int check_state(const char *state, struct error *err)
{
	return state ? error_set(err, ERROR_BUSY,
				 "its tree is in the middle of %s: let its agent finish or abort "
				 "that",
				 state)
		     : 0;
}

static int fetch_modules(const struct workspace *workspace, const char *directory,
			 const char *common, const char *commit, bool is_push, int64_t deadline_ms,
			 struct error *err)
{
	bool has_base = false;
	/* The agent may have left its history behind. */
	if (gitcmd_has_commit(workspace->source, workspace->base, &has_base, err) < 0)
		return -1;
	const struct bring_modules modules = { .tree = workspace->path,
					       .from = directory,
					       .to = common,
					       .before = has_base ? workspace->base : NULL,
					       .after = commit,
					       .is_push = is_push,
					       .deadline_ms = deadline_ms };
	return bring_modules(&modules, err);
}

/* A worktree's branch is in the repository already.  Its record says which that is. */
static int find_in_worktree(const struct instance *instance, struct bring_result *ret,
			    struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	const struct gitcmd_linked tree = inside_linked(instance);
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	if (is_there(workspace) &&
	    (gitcmd_look_at_worktree(&tree, &found, err) < 0 || check_state(found.state, err) < 0))
		return -1;
	if (found.is_known && !found.branch) {
		ret->commit = TAKE_PTR(found.commit);
		return ret->commit
			       ? 0
			       : error_set(err, ERROR_NOT_FOUND, "it has no commit checked out");
	}
	ret->branch = xstrdup(found.branch ? found.branch : workspace->branch);
	/* An agent in a container writes the record. */
	if (gitcmd_check_branch(ret->branch, err) < 0)
		return -1;
	int r = gitcmd_find_branch(workspace->source, ret->branch, &ret->commit, err);
	return r == GIT_NO_BRANCH
		       ? error_set(err, ERROR_NOT_FOUND, "its branch %s is gone", ret->branch)
		       : r;
}

/* HEAD may be another branch, or none. */
static int check_clone(const struct workspace *workspace, char **ret, struct error *err)
{
	cleanup_free char *head = NULL, *tip = NULL;
	cleanup_error struct error why = { 0 };
	const char *state = NULL;
	if (gitcmd_clone_state(workspace->path, &state, err) < 0 || check_state(state, err) < 0 ||
	    gitcmd_head(workspace->path, &head, err) < 0)
		return -1;
	if (gitcmd_head_of(workspace->path, workspace->branch, &tip, &why) < 0 &&
	    why.code != ERROR_NOT_FOUND)
		return error_move(err, &why);
	if (!tip || !streq(tip, head))
		return error_set(err, ERROR_BUSY,
				 "its clone has something else than %s checked out: let its agent "
				 "switch back to it",
				 workspace->branch);
	*ret = TAKE_PTR(head);
	return 0;
}

/* To the branch of the same name, so that nothing is lost with the clone.  One that is checked out
 * is not moved: a merge moves it. */
static int move_home(const struct workspace *workspace, const struct gitcmd_branch *branch,
		     const char *commit, struct error *err)
{
	bool is_behind = !branch->tip;
	if (branch->tip &&
	    gitcmd_is_ancestor(workspace->source, branch->tip, commit, &is_behind, err) < 0)
		return -1;
	cleanup_free char *shown = visible(workspace->path);
	if (!is_behind)
		return error_set(err, ERROR_EXISTS,
				 "the branch %s of your repository has commits that the clone does "
				 "not have: fetch it under another name with git -C %s fetch %s "
				 "HEAD:refs/heads/NAME",
				 workspace->branch, workspace->source, shown);
	return gitcmd_move_branch(workspace->source, workspace->branch, branch->tip, commit, err);
}

/* What the commit needs comes before a branch has it. */
static int fetch_clone(const struct workspace *workspace, const char *common, bool is_push,
		       struct bring_result *ret, struct error *err)
{
	cleanup_gitcmd_branch struct gitcmd_branch branch = { 0 };
	cleanup_free char *directory = path_join(workspace->path, ".git");
	const int64_t deadline_ms = clock_ms() + BRING_MS;
	int64_t copied = 0;
	if (gitcmd_look_at_branch(workspace->source, workspace->branch, NULL, &branch, err) < 0 ||
	    check_clone(workspace, &ret->commit, err) < 0 ||
	    gitcmd_fetch_home(workspace->source, workspace->path, err) < 0 ||
	    bring_copy_content(directory, common, deadline_ms, &copied, err) < 0 ||
	    fetch_modules(workspace, directory, common, ret->commit, is_push, deadline_ms, err) < 0)
		return -1;
	if (copied)
		log_info("%lld large files copied from %s", (long long)copied, workspace->path);
	if (branch.is_used)
		return 0;
	ret->branch = xstrdup(workspace->branch);
	return move_home(workspace, &branch, ret->commit, err);
}

static int check_tree(const struct deck *deck, const struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *directory = visible(instance_lookup_directory(instance));
	if (!workspace)
		return error_set(err, ERROR_INVALID,
				 "%s has no tree to itself: its work is in %s already", title,
				 directory);
	cleanup_free char *gone = tree_source_gone(deck, instance);
	cleanup_free char *absence = tree_absence(deck, instance);
	if (gone || (absence && workspace->kind == WORKSPACE_CLONE))
		return error_set(err, ERROR_NOT_FOUND, "%s", gone ? gone : absence);
	return 0;
}

/* Where it has no Git directory any more, it has no submodules. */
static int fetch_worktree(const struct instance *instance, const char *common, bool is_push,
			  struct bring_result *ret, struct error *err)
{
	const struct gitcmd_linked tree = inside_linked(instance);
	cleanup_free char *record = NULL;
	if (find_in_worktree(instance, ret, err) < 0 || gitcmd_mend_record(&tree, &record, err) < 0)
		return -1;
	return record ? fetch_modules(instance->workspace, record, common, ret->commit, is_push,
				      clock_ms() + BRING_MS, err)
		      : 0;
}

static int fetch_work(struct deck *deck, const struct instance *instance, bool is_push,
		      struct bring_result *ret, struct gitcmd_repository *repository,
		      struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	if (check_tree(deck, instance, err) < 0)
		return -1;
	inside_mend(instance);
	int r = gitcmd_find(workspace->source, repository, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_NOT_FOUND, "%s is no repository any more",
					 workspace->source);
	return workspace->kind == WORKSPACE_CLONE
		       ? fetch_clone(workspace, repository->common, is_push, ret, err)
		       : fetch_worktree(instance, repository->common, is_push, ret, err);
}

/* ---- merging --------------------------------------------------------------------------------- */

static int settle_target(const struct bring_order *order, const struct workspace *workspace,
			 struct bring_result *result, struct error *err)
{
	result->into = xstrdup_or_null(order->into ? order->into : workspace->base_branch);
	if (!result->into && gitcmd_current_branch(workspace->source, &result->into, err) < 0)
		return -1;
	if (!result->into)
		return error_set(err, ERROR_INVALID,
				 "the repository has no branch checked out: name one with --into");
	if (gitcmd_check_branch(result->into, err) < 0)
		return -1;
	if (result->branch && streq(result->branch, result->into))
		return error_set(err, ERROR_INVALID,
				 "%s is the branch of the session itself: name another one with "
				 "--into",
				 result->into);
	cleanup_free char *shown = visible(result->into);
	int r = gitcmd_find_branch(workspace->source, result->into, &result->before, err);
	return r == GIT_NO_BRANCH
		       ? error_set(err, ERROR_NOT_FOUND, "the repository has no branch %s", shown)
		       : r;
}

static char *message_of(const struct instance *instance, const struct bring_result *result,
			const struct bring_order *order)
{
	cleanup_free char *title = visible(instance->title);
	if (order->is_squash)
		return xasprintf("%s\n\nSquashed from %s (%.12s).", title,
				 result->branch ? result->branch : "a tree of agentdeck",
				 result->commit);
	return result->branch
		       ? xasprintf("Merge branch '%s' into %s", result->branch, result->into)
		       : xasprintf("Merge commit '%.12s' into %s", result->commit, result->into);
}

/* Only in the work tree that its user named, or in none: another one may be an agent's. */
static int take_over(const struct workspace *workspace, const struct gitcmd_repository *repository,
		     const struct bring_result *result, struct error *err)
{
	cleanup_free char *current = NULL;
	cleanup_gitcmd_branch struct gitcmd_branch target = { 0 };
	if (gitcmd_current_branch(workspace->source, &current, err) < 0)
		return -1;
	const bool is_current = current && streq(current, result->into);
	if (is_current && repository->top)
		return gitcmd_fast_forward(workspace->source, result->after, err);
	if (gitcmd_look_at_branch(workspace->source, result->into, NULL, &target, err) < 0)
		return -1;
	/* A bare repository has no files of the branch that its HEAD names. */
	if (is_current ? target.is_linked : target.is_used)
		return error_set(err, ERROR_BUSY,
				 "%s is checked out in another work tree, or a rebase is about it: "
				 "merge there with git merge --ff-only %.12s",
				 result->into, result->after);
	return gitcmd_move_branch(workspace->source, result->into, result->before, result->after,
				  err);
}

/* What git says then is no remedy. */
static int say_moved(const struct workspace *workspace, const struct bring_result *result,
		     struct error *err)
{
	cleanup_free char *now = NULL;
	if (gitcmd_find_branch(workspace->source, result->into, &now, NULL) != 0 ||
	    streq(now, result->before))
		return -1;
	error_clear(err);
	return error_set(err, ERROR_BUSY,
			 "%s has other commits since this merge began, and was left as it is: run "
			 "the same command again",
			 result->into);
}

static int merge(const struct instance *instance, const struct bring_order *order,
		 const struct gitcmd_repository *repository, struct bring_result *result,
		 struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_free char *message = message_of(instance, result, order);
	const struct gitcmd_merge wish = {
		.ours = result->before,
		.theirs = result->commit,
		.message = message,
		.is_squash = order->is_squash,
	};
	bool has_all = false;
	if (gitcmd_is_ancestor(workspace->source, result->commit, result->before, &has_all, err) <
	    0)
		return -1;
	int r = has_all ? GIT_NOTHING
			: gitcmd_make_merge(workspace->source, &wish, &result->after,
					    &result->conflicts, err);
	if (r < 0)
		return -1;
	if (r > 0) {
		result->outcome = r == GIT_NOTHING ? BRING_ALREADY : BRING_CONFLICT;
		return 0;
	}
	result->outcome = streq(result->after, result->commit) ? BRING_FORWARD : BRING_MERGED;
	return take_over(workspace, repository, result, err) < 0 ? say_moved(workspace, result, err)
								 : 0;
}

int bring_merge(struct deck *deck, const struct instance *instance, const struct bring_order *order,
		struct bring_result *ret, struct error *err)
{
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	if (fetch_work(deck, instance, false, &result, &repository, err) < 0 ||
	    settle_target(order, instance->workspace, &result, err) < 0 ||
	    merge(instance, order, &repository, &result, err) < 0)
		return -1;
	log_info("merge of %s into %s: %s -> %s", result.commit, result.into, result.before,
		 result.after ? result.after : "nothing");
	*ret = result;
	result = (struct bring_result){ 0 };
	return 0;
}

/* ---- pushing --------------------------------------------------------------------------------- */

/* Git's order: the branch's own, the user's choice, that of the branch it began on, the only one. */
static int find_remote(const struct workspace *workspace, const char *branch, char **ret,
		       struct error *err)
{
	cleanup_strvec struct strvec remotes = { 0 };
	cleanup_free char *own = xasprintf("branch.%s.pushRemote", branch);
	cleanup_free char *upstream = xasprintf("branch.%s.remote", branch);
	cleanup_free char *base = xasprintf("branch.%s.remote", or_empty(workspace->base_branch));
	const char *const keys[] = { own, "remote.pushDefault", upstream, base };
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_free char *value = NULL;
		if (gitcmd_setting(workspace->source, keys[i], &value, err) < 0)
			return -1;
		if (value && !streq(value, ".")) {
			*ret = TAKE_PTR(value);
			return 0;
		}
	}
	if (gitcmd_list_remotes(workspace->source, &remotes, err) < 0)
		return -1;
	if (!remotes.count)
		return error_set(err, ERROR_INVALID,
				 "the repository has no remote: add one with git -C %s remote add "
				 "origin URL",
				 workspace->source);
	if (!strvec_contains(&remotes, "origin") && remotes.count != 1)
		return error_set(err, ERROR_INVALID,
				 "which remote? Name it with git -C %s config remote.pushDefault "
				 "NAME",
				 workspace->source);
	*ret = xstrdup(strvec_contains(&remotes, "origin") ? "origin" : remotes.items[0]);
	return 0;
}

/* The hook of Git LFS does not run. */
static int push_content(const struct workspace *workspace, const char *common, const char *remote,
			const char *branch, struct error *err)
{
	cleanup_free char *objects = path_join(common, "lfs/objects");
	return access(objects, F_OK) != 0 ? 0
					  : gitcmd_push_lfs(workspace->source, remote, branch, err);
}

/* The branch that the session began on is its user's. */
static bool is_of_others(const struct workspace *workspace, const char *branch)
{
	return workspace->base_branch && streq(branch, workspace->base_branch) &&
	       !streq(branch, workspace->branch);
}

int bring_push(struct deck *deck, const struct instance *instance, struct bring_result *ret,
	       char **ret_remote, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_free char *remote = NULL;
	if (fetch_work(deck, instance, true, &result, &repository, err) < 0)
		return -1;
	if (!result.branch)
		return error_set(
			err, ERROR_INVALID,
			"its work is on no branch that can be pushed: merge it, or name it "
			"with git -C %s branch NAME %.12s",
			workspace->source, result.commit);
	if (is_of_others(workspace, result.branch))
		return error_set(err, ERROR_INVALID,
				 "its tree has %s checked out, which it began on: push that "
				 "yourself, or let its agent switch back to %s",
				 result.branch, workspace->branch);
	if (find_remote(workspace, result.branch, &remote, err) < 0 ||
	    push_content(workspace, repository.common, remote, result.branch, err) < 0 ||
	    gitcmd_push(workspace->source, remote, result.branch, err) < 0)
		return -1;
	log_info("push of %s to %s: %s", result.branch, remote, result.commit);
	*ret = result;
	result = (struct bring_result){ 0 };
	*ret_remote = TAKE_PTR(remote);
	return 0;
}

int bring_find_request(const struct instance *instance, const char *branch, int timeout_ms,
		       struct pull_request *ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_free char *key = xasprintf("branch.%s.remote", branch);
	cleanup_free char *remote = NULL;
	if (gitcmd_setting(workspace->source, key, &remote, err) < 0)
		return -1;
	return remote ? forge_find(workspace->source, branch, timeout_ms, ret, err) : FORGE_NONE;
}

int bring_request(const struct instance *instance, const struct bring_result *result,
		  struct pull_request *ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	int r = forge_find(workspace->source, result->branch, REQUEST_MS, ret, err);
	/* A closed or merged request is not about these commits. */
	if (r < 0 || (r == 0 && streq(ret->state, "OPEN")))
		return r;
	forge_request_free(ret);
	if (forge_make(workspace->source, result->branch, workspace->base_branch, err) < 0)
		return -1;
	r = forge_find(workspace->source, result->branch, REQUEST_MS, ret, err);
	return r == FORGE_NONE
		       ? error_set(err, ERROR_CHILD, "gh shows no pull request that it made")
		       : r;
}
