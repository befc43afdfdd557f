/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/inside.h"

#include "base/fsutil.h"
#include "driver/git/git.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALTERNATES "objects/info/alternates"

/* What a commit writes.  Git makes the logs with the first one. */
static const char *const written[] = { "objects", "refs", "logs" };

static int check_objects(const char *common, struct error *err)
{
	cleanup_free char *alternates = path_join(common, ALTERNATES);
	if (access(alternates, F_OK) < 0)
		return 0;
	cleanup_free char *shown = visible(alternates);
	return error_set(err, ERROR_INVALID,
			 "the repository has objects in another one (%s), which the container does "
			 "not have: leave --worktree or --container out, or copy the objects with "
			 "git repack -a -d and remove that file",
			 shown);
}

static int add_written(struct recipe *recipe, const char *common, const char *name,
		       struct error *err)
{
	cleanup_free char *path = path_join(common, name);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "mkdir %s", path);
	recipe_add_tree_mount(recipe, path, false);
	return 0;
}

static int add_worktree(const struct workspace *workspace, struct recipe *recipe, struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_free char *record = NULL;
	int r = gitcmd_find(workspace->path, &repository, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_CHILD, "git does not know it: try again");
	if (check_objects(repository.common, err) < 0 ||
	    gitcmd_directory(workspace->path, &record, err) < 0)
		return -1;
	recipe_add_tree_mount(recipe, repository.common, true);
	for (size_t i = 0; i < ARRAY_SIZE(written); i++)
		if (add_written(recipe, repository.common, written[i], err) < 0)
			return -1;
	recipe_add_tree_mount(recipe, record, false);
	return 0;
}

int inside_settle(struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	struct recipe *recipe = instance->recipe;
	recipe_drop_tree_mounts(recipe);
	recipe_add_tree_mount(recipe, workspace->path, false);
	return workspace->kind == WORKSPACE_WORKTREE ? add_worktree(workspace, recipe, err) : 0;
}
