/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The repository that a tree was made from is elsewhere now.
 */
#include "engine/workspace/tree.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/place/place.h"
#include "engine/workspace/tree-internal.h"
#include "model/workspace/origin.h"

#include <string.h>
#include <unistd.h>

/* The record of what the repository was names its place. */
static int move_origin(int directory, const char *source, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_origin struct origin origin = { 0 };
	int r = fs_read(directory, TREE_ORIGIN, ORIGIN_JSON_MOST, &text, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (origin_parse(strbuf_text(&text), text.length, &origin, err) < 0)
		return -1;
	replace_string(&origin.source, source);
	cleanup_json struct json_object *object = origin_to_json(&origin);
	const char *words = json_print(object);
	return fs_replace(directory, TREE_ORIGIN, words, strlen(words), FS_DURABLE, err);
}

static int check_same(const struct workspace *workspace, const char *source, struct error *err)
{
	bool has_base = false;
	cleanup_free char *shown = visible(source);
	if (gitcmd_has_commit(source, workspace->base, &has_base, err) < 0)
		return -1;
	return has_base ? 0
			: error_set(
				  err, ERROR_INVALID,
				  "%s is not the repository that its tree was made from: it has no "
				  "commit %s",
				  shown, workspace->base);
}

/* The work tree says which repository it belongs to. */
static int mend(const struct instance *instance, const struct gitcmd_repository *repository,
		struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	struct gitcmd_linked tree = inside_linked(instance);
	cleanup_gitcmd_repository struct gitcmd_repository found = { 0 };
	cleanup_free char *shown = visible(workspace->path);
	if (workspace->kind != WORKSPACE_WORKTREE)
		return 0;
	tree.source = repository->top ? repository->top : repository->common;
	/* Git writes where the record says. */
	if (place_home(instance) && gitcmd_mend_record(&tree, NULL, err) < 0)
		return -1;
	if (gitcmd_mend_worktrees(repository->common, err) < 0)
		return -1;
	int r = gitcmd_find(workspace->path, &found, err);
	if (r < 0)
		return -1;
	return r == 0 && streq(found.common, repository->common)
		       ? 0
		       : error_set(
				 err, ERROR_INVALID,
				 "the repository has no record of the worktree %s, or that is gone: "
				 "nothing was changed",
				 shown);
}

/* A tree that is gone is made again from the new place; on a disk that is not mounted it is not
 * gone. */
static int look_for_tree(const struct deck *deck, const struct instance *instance, bool *ret,
			 struct error *err)
{
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	const bool is_there = instance->workspace->is_made &&
			      access(instance->workspace->path, F_OK) == 0;
	if (!is_there && tree_open_place(deck, instance, false, &place, err) < 0)
		return -1;
	*ret = is_there;
	return 0;
}

int tree_move_source(const struct deck *deck, struct instance *instance, const char *path,
		     struct error *err)
{
	struct workspace *workspace = instance->workspace;
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_close int directory = -1;
	cleanup_free char *shown = visible(path);
	if (!tree_name(deck, instance))
		return error_set(err, ERROR_CORRUPT, "the tree of %s is not where trees are",
				 instance->id);
	int r = gitcmd_find(path, &repository, err);
	if (r == GIT_ABSENT)
		return error_set(err, ERROR_INVALID,
				 "%s is not in a Git repository: name the one that its tree was "
				 "made from",
				 shown);
	if (r < 0)
		return error_prefix(err, "%s", shown);
	const char *source = repository.top ? repository.top : repository.common;
	bool is_there = false;
	if (check_same(workspace, source, err) < 0 ||
	    look_for_tree(deck, instance, &is_there, err) < 0 ||
	    (is_there && mend(instance, &repository, err) < 0) ||
	    tree_open(deck, instance->id, true, &directory, err) < 0 ||
	    move_origin(directory, source, err) < 0)
		return -1;
	log_info("its repository: %s -> %s", workspace->source, source);
	replace_string(&workspace->source, source);
	return is_there ? inside_settle(instance, err) : 0;
}
