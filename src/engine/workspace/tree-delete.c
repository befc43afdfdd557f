/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deleting is one rename after the verdict, and then removal.  So a kill leaves the whole tree, or
 * one that is not judged again: half a tree would look as if its user had deleted files.
 */
#include "engine/workspace/tree.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/assess/assess.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/stamp.h"
#include "engine/workspace/tree-internal.h"
#include "engine/workspace/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- judging --------------------------------------------------------------------------------- */

/* Judge what is deleted with the tree: files that its agent made one level up, as with `git
 * worktree add ../other`, or the tree itself under another name. */
static void judge_beside(int directory, const char *name, struct verdict *ret)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_error struct error err = { 0 };
	if (fs_list(directory, &names, &err) < 0)
		verdict_unknown(ret, "", "%s", err.message);
	for (size_t i = 0; i < names.count; i++)
		if (!streq(names.items[i], name) && !tree_is_ours(names.items[i]))
			verdict_unknown(ret, "", "beside the tree there is %s", names.items[i]);
}

static bool is_gone(const struct workspace *workspace)
{
	return access(workspace->path, F_OK) != 0 && errno == ENOENT;
}

/* Git's record goes with the tree, and may alone have the commits of a detached HEAD. */
static void judge_record(const struct instance *instance, struct verdict *ret)
{
	const struct workspace *workspace = instance->workspace;
	const struct gitcmd_linked tree = inside_linked(instance);
	cleanup_gitcmd_worktree struct gitcmd_worktree worktree = { 0 };
	cleanup_strvec struct strvec holders = { 0 };
	cleanup_error struct error err = { 0 };
	if (workspace->kind != WORKSPACE_WORKTREE || access(workspace->source, F_OK) != 0)
		return;
	if (gitcmd_look_at_worktree(&tree, &worktree, &err) < 0 ||
	    (worktree.commit &&
	     gitcmd_find_holders(workspace->source, worktree.commit, &holders, &err) < 0))
		verdict_unknown(ret, "", "%s", err.message);
	else if (worktree.commit && !holders.count)
		verdict_add(ret, FINDING_DETACHED, "", worktree.commit,
			    "checked out when the tree was deleted, and on no branch: start the "
			    "session, or name it with git branch");
}

struct origin tree_origin(const struct workspace *workspace)
{
	return (struct origin){
		.kind = workspace->kind == WORKSPACE_WORKTREE ? ORIGIN_WORKTREE : ORIGIN_CLONE,
		.source = xstrdup(workspace->source),
		.path = xstrdup(workspace->path),
		.branch = xstrdup(workspace->branch),
		.base = xstrdup(workspace->base),
	};
}

/* What kept agentdeck from recording it may be there still. */
static void judge_unrecorded(const struct workspace *workspace, struct verdict *ret)
{
	cleanup_error struct error err = { 0 };
	cleanup_origin struct origin origin = tree_origin(workspace);
	const bool can_be = assess_origin(&origin, ASSESS_TIMEOUT_MS, &err) == 0;
	verdict_unknown(ret, "", "there is no record of what it was at first%s%s",
			can_be ? "" : ", since ", can_be ? "" : err.message);
}

int tree_read_record(int directory, const struct workspace *workspace, struct origin *ret,
		     struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_origin struct origin origin = { 0 };
	int r = fs_read(directory, TREE_ORIGIN, ORIGIN_JSON_MOST, &text, err);
	if (r != 0)
		return r < 0 ? -1 : TREE_ABSENT;
	if (origin_parse(strbuf_text(&text), text.length, &origin, err) < 0)
		return -1;
	if (!streq(origin.path, workspace->path))
		return error_set(err, ERROR_CORRUPT, "its record is of another tree");
	*ret = origin;
	origin = (struct origin){ 0 };
	return 0;
}

static void judge(const struct deck *deck, int directory, const struct instance *instance,
		  struct verdict *ret)
{
	cleanup_error struct error err = { 0 };
	cleanup_origin struct origin origin = { 0 };
	cleanup_free char *gone = tree_source_gone(deck, instance);
	if (!gone)
		gone = tree_record_gone(deck, instance);
	if (gone) {
		verdict_unknown(ret, "", "%s", gone);
		return;
	}
	int r = tree_read_record(directory, instance->workspace, &origin, &err);
	if (r > 0)
		judge_unrecorded(instance->workspace, ret);
	else if (r < 0)
		verdict_unknown(ret, "", "%s", err.message);
	else
		assess_verdict(&origin, ASSESS_TIMEOUT_MS, ret);
}

int tree_judge(const struct deck *deck, const struct instance *instance, struct verdict *ret,
	       struct error *err)
{
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	cleanup_close int records = -1;
	if (!instance->workspace)
		return TREE_ABSENT;
	const bool is_absent = is_gone(instance->workspace);
	const char *name = tree_name(deck, instance);
	if (!name && is_absent)
		return TREE_ABSENT;
	if (!name)
		return error_set(err, ERROR_CORRUPT, "the tree of %s is not where trees are",
				 instance->id);
	inside_mend(instance);
	if (is_absent)
		judge_record(instance, ret);
	int r = tree_open_place(deck, instance, false, &place, err);
	if (r != 0)
		return r < 0 ? -1 : (ret->count ? 0 : TREE_ABSENT);
	if (tree_open(deck, instance->id, false, &records, err) < 0)
		return -1;
	/* No agent has worked in what a killed start has left. */
	if (!is_absent && instance->workspace->is_made)
		judge(deck, records, instance, ret);
	judge_beside(place.directory, name, ret);
	return (is_absent || !instance->workspace->is_made) && !ret->count ? TREE_ABSENT : 0;
}

/* Has no work in it that exists nowhere else, or that its user has not given up? */
static bool may_lose(struct deck *deck, const struct instance *instance,
		     const struct tree_place *place, int records)
{
	cleanup_verdict struct verdict verdict = { 0 };
	const struct workspace *workspace = instance->workspace;
	if (workspace->may_be_lost)
		return true;
	const bool is_absent = is_gone(workspace);
	if (workspace->is_made && is_absent && !workspace->is_freed)
		judge_record(instance, &verdict);
	else if (workspace->is_made && !is_absent)
		judge(deck, records, instance, &verdict);
	if (place->directory >= 0)
		judge_beside(place->directory, tree_name(deck, instance), &verdict);
	if (verdict_is_safe(&verdict))
		return true;
	cleanup_free char *shown = visible(workspace->path);
	cleanup_free char *line = verdict_line(&verdict);
	deck_warn(deck, "the tree %s stays, because it %s: %s", shown, verdict_claim(&verdict),
		  line);
	return false;
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* A tree that a process works in is not deleted, whatever was given up. */
static int check_unused(int directory, const char *name, const char *id, struct error *err)
{
	cleanup_tree_user struct tree_user user = { 0 };
	cleanup_free char *path = xasprintf("/proc/self/fd/%d/%s", directory, name);
	if (tree_find_user(path, id, &user, err) < 0)
		return -1;
	return user.text
		       ? error_set(err, ERROR_BUSY,
				   "process %s works in it: end it, or let it leave the directory",
				   user.text)
		       : 0;
}

static int check_unchanged(int directory, const char *name, const struct tree_stamp *seen,
			   struct error *err)
{
	const struct tree_stamp now = seen ? tree_stamp_of(directory, name)
					   : (struct tree_stamp){ 0 };
	return seen && !tree_stamp_equal(seen, &now)
		       ? error_set(err, ERROR_BUSY, "something in it changed just now: try again")
		       : 0;
}

/* Something has the tree's name by now: give the tree another one, beside which none is deleted
 * (judge_beside()).  Under the name that it has now, the next deletion would take it. */
static int put_beside(int directory, const char *name, struct error *err)
{
	cleanup_free char *beside = xasprintf("%s.%lld", name, (long long)clock_wall_us());
	cleanup_free char *shown = visible(beside);
	if (renameat(directory, TREE_REMOVED, directory, beside) < 0)
		return error_prefix(err,
				    "it is now in %s beside its place, and cannot be moved "
				    "back (%s): move it yourself",
				    TREE_REMOVED, strerror(errno));
	return error_prefix(err, "something else has its name, and it is now in %s beside that",
			    shown);
}

/* A directory replaces nothing but an empty one. */
static int move_back(int directory, const char *name, struct error *err)
{
	const bool is_back = renameat(directory, TREE_REMOVED, directory, name) == 0;
	return is_back || errno == ENOENT ? -1 : put_beside(directory, name, err);
}

/* Move the tree out of the way, durably.  A tree that an earlier deletion left there was judged as
 * well.  No process can enter the tree under its new name.  If one did just before, the tree is
 * moved back. */
static int set_aside(int directory, const struct tree_remains *tree, struct error *err)
{
	if (check_unused(directory, TREE_REMOVED, tree->id, err) < 0 ||
	    fs_remove_tree(directory, TREE_REMOVED, err) < 0 ||
	    check_unused(directory, tree->name, tree->id, err) < 0)
		return -1;
	if (renameat(directory, tree->name, directory, TREE_REMOVED) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s", tree->name);
	if (check_unused(directory, TREE_REMOVED, tree->id, err) < 0 ||
	    check_unchanged(directory, TREE_REMOVED, tree->seen, err) < 0)
		return move_back(directory, tree->name, err);
	if (fs_flush(directory) < 0)
		return error_set_file(err, errno, "sync the directory of %s", tree->name);
	return 0;
}

/* Git's own record of it.  It blocks the branch, and no `git worktree prune` takes it, since it is
 * locked.  A repository that is gone has none. */
static int forget(const struct tree_remains *tree, struct error *err)
{
	if (!tree->source)
		return 0;
	if (access(tree->source, F_OK) != 0 && errno == ENOENT) {
		log_info("the repository %s is gone, and with it its record of the work tree",
			 tree->source);
		return 0;
	}
	const struct gitcmd_linked linked = {
		.source = tree->source,
		.path = tree->path,
		.record = tree->record,
	};
	return gitcmd_forget_worktree(&linked, err);
}

/* What another has put beside the tree stays. */
static int leave(const struct tree_place *place, const char *id, struct error *err)
{
	if (fs_remove_tree(place->directory, TREE_REMOVED, err) < 0)
		return -1;
	if (unlinkat(place->root, id, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY &&
	    errno != EEXIST)
		return error_set_file(err, errno, "remove the directory %s", id);
	return 0;
}

int tree_erase(int all, const struct tree_place *place, const struct tree_remains *tree,
	       struct error *err)
{
	if (place->directory >= 0 && set_aside(place->directory, tree, err) < 0)
		return -1;
	if (forget(tree, err) < 0)
		return -1;
	if (place->is_elsewhere && leave(place, tree->id, err) < 0)
		return -1;
	return all < 0 ? 0 : fs_remove_tree(all, tree->id, err);
}

bool tree_reclaim(struct workspace *workspace)
{
	if (!workspace || !workspace->is_freed || is_gone(workspace))
		return false;
	workspace->is_freed = false;
	return true;
}

/* Work that its user has given up is lost. */
static int note_freed(struct workspace *workspace, const struct tree_saver *saver,
		      struct error *err)
{
	if (!saver || !workspace->is_made || workspace->is_freed || workspace->may_be_lost ||
	    is_gone(workspace))
		return 0;
	workspace->is_freed = true;
	return saver->save(saver->context, err);
}

int tree_delete(struct deck *deck, struct instance *instance, const struct tree_saver *saver,
		struct error *err)
{
	struct workspace *workspace = instance->workspace;
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	cleanup_close int all = -1, records = -1;
	const char *name = workspace ? tree_name(deck, instance) : NULL;
	if (!name)
		return 0;
	inside_mend(instance);
	/* git finds its record by the path, and wants the directory above it. */
	const bool is_linked = workspace->kind == WORKSPACE_WORKTREE;
	int r = fs_open_private_directory_at(store_profile_directory(deck->store), TREE_ALL,
					     is_linked, &all, err);
	if (r == 0)
		r = fs_open_private_directory_at(all, instance->id, is_linked, &records, err);
	if (r < 0 || tree_open_place(deck, instance, is_linked, &place, err) < 0)
		return -1;
	struct tree_stamp seen = { 0 };
	if (place.directory >= 0 && !workspace->may_be_lost)
		seen = tree_stamp_of(place.directory, name);
	if (!may_lose(deck, instance, &place, records))
		return TREE_KEPT;
	if (tree_check_ours(deck, instance, err) < 0 || note_freed(workspace, saver, err) < 0)
		return -1;
	const struct tree_remains tree = {
		.id = instance->id,
		.name = name,
		.path = workspace->path,
		.source = is_linked ? workspace->source : NULL,
		.record = inside_linked(instance).record,
		.seen = workspace->may_be_lost ? NULL : &seen,
	};
	cleanup_error struct error local = { 0 };
	if (tree_erase(all, &place, &tree, &local) == 0)
		return 0;
	if (local.code != ERROR_BUSY)
		return error_move(err, &local);
	cleanup_free char *shown = visible(workspace->path);
	deck_warn(deck, "the tree %s stays, because %s", shown, local.message);
	if (saver && tree_reclaim(workspace) && saver->save(saver->context, err) < 0)
		return -1;
	return TREE_KEPT;
}
