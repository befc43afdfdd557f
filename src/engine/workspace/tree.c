/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/tree.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "driver/assess/assess.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/setup.h"
#include "engine/workspace/tree-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { BRANCH_TRIES = 1000 };

/* ---- planning -------------------------------------------------------------------------------- */

static int check_repository(const struct gitcmd_repository *repository, const char *shown,
			    struct error *err)
{
	if (!repository->head)
		return error_set(err, ERROR_INVALID,
				 "the repository of %s has no commit yet: make one first", shown);
	return 0;
}

static int find_repository(const char *directory, struct gitcmd_repository *ret, struct error *err)
{
	cleanup_free char *shown = visible(directory);
	int r = gitcmd_find(directory, ret, err);
	if (r == GIT_ABSENT)
		return error_set(err, ERROR_INVALID,
				 "%s is not in a Git repository: omit --worktree or --clone, "
				 "or begin one with git init",
				 shown);
	if (r < 0)
		return error_prefix(err, "%s", shown);
	return check_repository(ret, shown, err);
}

static bool is_taken(const char *repository, const char *branch, struct error *err, int *r)
{
	cleanup_free char *commit = NULL;
	*r = gitcmd_find_branch(repository, branch, &commit, err);
	return *r == 0;
}

/* "agentdeck/<title>", with a number if the repository has that. */
static int choose_branch(const char *repository, const char *title, char **ret, struct error *err)
{
	cleanup_free char *slug = workspace_slug(title);
	cleanup_free char *branch = xasprintf(TREE_BRANCHES "%s", slug);
	int r;
	for (unsigned n = 2; is_taken(repository, branch, err, &r) && n < BRANCH_TRIES; n++) {
		free(branch);
		branch = xasprintf(TREE_BRANCHES "%s-%u", slug, n);
	}
	if (r < 0)
		return -1;
	*ret = TAKE_PTR(branch);
	return 0;
}

static int settle_branch(const struct tree_order *order, const char *title,
			 struct workspace *workspace, struct error *err)
{
	cleanup_free char *commit = NULL;
	if (!order->branch)
		return choose_branch(workspace->source, title, &workspace->branch, err);
	if (gitcmd_check_branch(order->branch, err) < 0)
		return -1;
	int r = gitcmd_find_branch(workspace->source, order->branch, &commit, err);
	if (r < 0)
		return -1;
	workspace->branch = xstrdup(order->branch);
	workspace->has_branch = r == 0;
	if (commit && order->commit && !streq(commit, order->commit))
		return error_set(err, ERROR_EXISTS,
				 "the repository %s has a branch %s with other commits: rename or "
				 "delete that one, or move the session without --with-tree",
				 workspace->source, order->branch);
	if (commit)
		replace_string(&workspace->base, commit);
	return 0;
}

/* The repository of a session's directory: which one, and where in it.  Its own tree is its
 * agent's, and is asked for nothing but its commit. */
/* A worktree's own file .git is its agent's as well, so git's record of it is asked. */
static int find_from(const struct instance *like, char **ret, char **ret_head, struct error *err)
{
	const struct workspace *other = like->workspace;
	const struct gitcmd_linked tree = inside_linked(like);
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	if (other->kind != WORKSPACE_WORKTREE) {
		*ret = xstrdup(other->path);
		return gitcmd_head(other->path, ret_head, err);
	}
	int r = gitcmd_mend_record(&tree, ret, err);
	if (r == 0)
		r = gitcmd_look_at_worktree(&tree, &found, err);
	if (r == 0 && found.branch)
		r = gitcmd_find_branch(other->source, found.branch, ret_head, err);
	if (r < 0)
		return -1;
	if (!*ret_head)
		*ret_head = TAKE_PTR(found.commit);
	return *ret_head ? 0 : error_set(err, ERROR_NOT_FOUND, "it has no commit checked out");
}

static int plan_like(const struct instance *like, struct gitcmd_repository *ret,
		     struct workspace *workspace, struct error *err)
{
	const struct workspace *other = like->workspace;
	const char *directory = instance_lookup_directory(like);
	const size_t length = strlen(other->path);
	cleanup_free char *shown = visible(other->path);
	if (find_repository(other->source, ret, err) < 0)
		return -1;
	if (access(other->path, F_OK) != 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "its tree %s is gone: start it first, which makes it again",
				 shown);
	replace_string(&ret->head, NULL);
	if (find_from(like, &workspace->from, &ret->head, err) < 0)
		return error_prefix(err, "the tree %s", shown);
	free(ret->prefix);
	ret->prefix = starts_with(directory, other->path) && directory[length] == '/'
			      ? xasprintf("%s/", directory + length + 1)
			      : xstrdup("");
	return 0;
}

int tree_plan(const struct deck *deck, const struct tree_order *order, struct instance *instance,
	      struct error *err)
{
	cleanup_workspace struct workspace *workspace = workspace_new();
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	const bool has_like = order->like && order->like->workspace;
	if ((has_like ? plan_like(order->like, &repository, workspace, err)
		      : find_repository(instance->cwd, &repository, err)) < 0)
		return -1;
	workspace->kind = order->kind;
	workspace->source = xstrdup(repository.top ? repository.top : repository.common);
	workspace->base = xstrdup(order->commit ? order->commit : repository.head);
	workspace->arriving = xstrdup_or_null(order->arriving);
	if (tree_choose(deck, instance->id, workspace->source, &workspace->path, err) < 0 ||
	    settle_branch(order, instance->title, workspace, err) < 0)
		return -1;
	if (gitcmd_current_branch(workspace->source, &workspace->base_branch, err) < 0)
		return -1;
	/* The prefix ends in a slash, if there is one. */
	cleanup_free char *directory = path_join(workspace->path, repository.prefix);
	directory[strlen(directory) - 1] = '\0';
	instance_set_directory(instance, directory);
	instance->workspace = TAKE_PTR(workspace);
	return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Without a record nothing in the tree counts as safe later. */
static int save_origin(struct deck *deck, const struct workspace *workspace, int directory,
		       struct error *err)
{
	cleanup_error struct error local = { 0 };
	cleanup_origin struct origin origin = tree_origin(workspace);
	if (assess_origin(&origin, ASSESS_TIMEOUT_MS, &local) < 0) {
		deck_warn(deck,
			  "agentdeck cannot tell what would be lost with this tree, and keeps it "
			  "until you give it up (remove --discard): %s",
			  local.message);
		return fs_remove(directory, TREE_ORIGIN, err);
	}
	cleanup_json struct json_object *object = origin_to_json(&origin);
	const char *text = json_print(object);
	return fs_replace(directory, TREE_ORIGIN, text, strlen(text), FS_DURABLE, err);
}

/* What a killed attempt has left, or a tree that is gone.  No agent has worked in the former. */
static int clear_part(const struct instance *instance, int directory, const char *name,
		      struct error *err)
{
	const struct gitcmd_linked tree = inside_linked(instance);
	if (instance->workspace->kind == WORKSPACE_WORKTREE &&
	    gitcmd_forget_worktree(&tree, err) < 0)
		return -1;
	return fs_remove_tree(directory, name, err);
}

/* A killed attempt may have made the branch. */
static int look_for_branch(const struct workspace *workspace, bool *ret, struct error *err)
{
	cleanup_free char *commit = NULL;
	int r = gitcmd_find_branch(workspace->source, workspace->branch, &commit, err);
	if (r < 0)
		return -1;
	if (commit && !workspace->has_branch && !workspace->is_made &&
	    !streq(commit, workspace->base))
		return error_set(err, ERROR_EXISTS,
				 "the branch '%s' was made meanwhile: choose another name "
				 "with --branch",
				 workspace->branch);
	*ret = commit != NULL;
	return 0;
}

/* What a worktree that is gone had checked out.  The manifest has it before git forgets it, since
 * nothing else has the commits of a detached HEAD. */
static int note_again(struct store_lock *lock, struct instance *instance, struct error *err)
{
	struct workspace *workspace = instance->workspace;
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	if (!workspace->is_made || workspace->again || workspace->kind != WORKSPACE_WORKTREE)
		return 0;
	const struct gitcmd_linked tree = inside_linked(instance);
	if (gitcmd_look_at_worktree(&tree, &found, err) < 0)
		return -1;
	workspace->again = xstrdup(found.commit ? found.commit : workspace->branch);
	return store_save(lock, instance, err);
}

static bool is_detached(const struct workspace *workspace)
{
	return workspace->again && !streq(workspace->again, workspace->branch);
}

/* A worktree was being made again.  Is it whole, so that only the rest is to be done?  Git writes
 * the index when all files are there.  What git does not know is its user's, from a backup. */
static int look_at_part(const struct instance *instance, bool *ret_whole, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	const struct gitcmd_linked tree = inside_linked(instance);
	static const char prefix[] = "gitdir: ";
	cleanup_free char *link = path_join(workspace->path, ".git");
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	if (rmdir(workspace->path) == 0 || errno == ENOENT)
		return 0;
	if (gitcmd_look_at_worktree(&tree, &found, err) < 0)
		return -1;
	if (!found.is_known || fs_read(AT_FDCWD, link, PATH_MAX, &text, NULL) != 0 ||
	    !starts_with(strbuf_text(&text), prefix))
		return error_set(err, ERROR_EXISTS,
				 "something else is there now, which git does not know: move it "
				 "away");
	cleanup_free char *directory = xstrdup(strbuf_text(&text) + strlen(prefix));
	directory[strcspn(directory, "\n")] = '\0';
	cleanup_free char *index = path_join(directory, "index");
	*ret_whole = access(index, F_OK) == 0;
	return 0;
}

static int make(struct deck *deck, struct store_lock *lock, struct instance *instance,
		struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	cleanup_close int records = -1;
	bool has_branch = false;
	if (tree_open_place(deck, instance, true, &place, err) < 0 ||
	    tree_check_ours(deck, instance, err) < 0 ||
	    tree_note_root(&place, instance->workspace, err) < 0 ||
	    note_again(lock, instance, err) < 0 ||
	    clear_part(instance, place.directory, tree_name(deck, instance), err) < 0 ||
	    look_for_branch(workspace, &has_branch, err) < 0)
		return -1;
	const struct gitcmd_tree tree = {
		.source = workspace->source,
		.path = workspace->path,
		.branch = workspace->branch,
		.base = is_detached(workspace) ? workspace->again : workspace->base,
		.from = workspace->from,
		.has_branch = has_branch,
		.is_detached = is_detached(workspace),
		.is_empty = workspace->arriving,
	};
	if ((workspace->kind == WORKSPACE_WORKTREE ? gitcmd_add_worktree(&tree, err)
						   : gitcmd_clone(&tree, err)) < 0 ||
	    tree_open(deck, instance->id, true, &records, err) < 0)
		return -1;
	return save_origin(deck, workspace, records, err);
}

static void warn_of_loss(struct deck *deck, const struct workspace *workspace)
{
	cleanup_free char *shown = visible(workspace->path);
	if (is_detached(workspace)) {
		deck_warn(deck,
			  "the tree %s was gone, and was made again without a branch at commit "
			  "%.12s, where Git's record had it%s. Give its "
			  "commits a branch: git -C %s switch -c NAME",
			  shown, workspace->again,
			  workspace->is_freed ? "" : ": what was only in it is lost", shown);
		return;
	}
	/* A deletion was killed. */
	if (workspace->is_freed)
		return;
	deck_warn(deck,
		  "the tree %s was gone, and was made again from branch %s%s: what was only in it "
		  "is lost",
		  shown, workspace->branch,
		  workspace->kind == WORKSPACE_CLONE ? " of its source" : "");
}

/* Without its source the agent can work in the tree, and git cannot. */
static void check_source(struct deck *deck, const struct instance *instance)
{
	cleanup_free char *gone = tree_source_gone(deck, instance);
	if (gone && instance->workspace->kind == WORKSPACE_WORKTREE)
		deck_warn(deck, "git does not work in its worktree: %s", gone);
}

/* Git does not work in a worktree without it, and its branch could be checked out elsewhere. */
static void restore_record(struct deck *deck, const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	const struct gitcmd_linked tree = inside_linked(instance);
	cleanup_error struct error err = { 0 };
	cleanup_free char *shown = visible(workspace->path);
	bool is_restored = false;
	if (workspace->kind != WORKSPACE_WORKTREE || access(workspace->source, F_OK) != 0)
		return;
	if (gitcmd_restore_record(&tree, &is_restored, &err) < 0)
		deck_warn(deck,
			  "git does not work in the worktree %s, since git's record of it is gone: "
			  "it was not made again: %s",
			  shown, err.message);
	else if (is_restored)
		deck_warn(deck,
			  "git's record of the worktree %s was gone, and was made again, on branch "
			  "%s. Its files are as they were, and nothing is staged",
			  shown, workspace->branch);
}

/* A tree that is to be made needs it. */
static int need_source(const struct deck *deck, const struct instance *instance, struct error *err)
{
	cleanup_free char *gone = tree_source_gone(deck, instance);
	return gone ? error_set(err, ERROR_NOT_FOUND, "%s", gone) : 0;
}

/* Record the root's id of a tree that was made before roots had ids, and is there now. */
static int note_older_root(const struct deck *deck, struct instance *instance, bool *ret_changed,
			   struct error *err)
{
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	if (instance->workspace->root_id)
		return 0;
	int r = tree_open_place(deck, instance, false, &place, err);
	if (r != 0 || !place.is_elsewhere)
		return r < 0 ? -1 : 0;
	*ret_changed = true;
	return tree_note_root(&place, instance->workspace, err);
}

/* A tree that cannot be reached is not gone. */
static int look_for_tree(const struct workspace *workspace, bool *ret, struct error *err)
{
	const bool is_there = access(workspace->path, F_OK) == 0;
	if (!is_there && errno != ENOENT)
		return error_set_file(err, errno, "look for the tree %s", workspace->path);
	*ret = is_there;
	return 0;
}

/* The agent would look for these files. */
static void say_what_is_missing(struct deck *deck, const struct workspace *workspace)
{
	cleanup_free char *modules = path_join(workspace->path, ".gitmodules");
	cleanup_free char *include = path_join(workspace->path, ".worktreeinclude");
	cleanup_free char *shown = visible(workspace->path);
	if (access(modules, F_OK) == 0)
		deck_warn(deck,
			  "the submodules of the tree are empty: git -C %s submodule update "
			  "--init fills them",
			  shown);
	if (access(include, F_OK) == 0)
		deck_warn(deck, "agentdeck does not read .worktreeinclude: name the files to copy "
				"with agentdeck config set workspace.copy");
}

int tree_ensure(struct deck *deck, struct store_lock *lock, struct instance *instance,
		struct error *err)
{
	struct workspace *workspace = instance->workspace;
	if (!workspace)
		return 0;
	cleanup_free char *shown = visible(workspace->path);
	if (!tree_name(deck, instance))
		return error_set(err, ERROR_CORRUPT,
				 "the manifest of %s says that its tree is %s, where agentdeck "
				 "makes none",
				 instance->id, shown);
	bool is_there = false, is_whole = false;
	inside_mend(instance);
	if (look_for_tree(workspace, &is_there, err) < 0)
		return -1;
	if (workspace->is_made && !workspace->again && is_there) {
		check_source(deck, instance);
		restore_record(deck, instance);
		bool has_changed = tree_reclaim(workspace);
		if (note_older_root(deck, instance, &has_changed, err) < 0)
			return -1;
		return has_changed ? store_save(lock, instance, err) : 0;
	}
	if (need_source(deck, instance, err) < 0 ||
	    (workspace->again && look_at_part(instance, &is_whole, err) < 0) ||
	    (!is_whole && make(deck, lock, instance, err) < 0))
		return error_prefix(err, "make the tree %s", shown);
	if ((workspace->arriving && tree_check_out(deck, instance, err) < 0) ||
	    setup_copy(deck, instance, err) < 0)
		return -1;
	setup_want(deck, instance);
	if (inside_settle(instance, err) < 0)
		return error_prefix(err, "mount the tree %s", shown);
	if (workspace->is_made)
		warn_of_loss(deck, workspace);
	else
		say_what_is_missing(deck, workspace);
	log_info("tree made: %s of %s", workspace_kind_name(workspace->kind), workspace->source);
	workspace->made_branch |= !workspace->is_made && !workspace->has_branch &&
				  workspace->kind == WORKSPACE_WORKTREE;
	workspace->is_made = true;
	workspace->is_freed = false;
	replace_string(&workspace->again, NULL);
	return store_save(lock, instance, err);
}
