/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/inside.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "driver/git/git.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALTERNATES "objects/info/alternates"

/* The parts that a commit writes.  Git makes the logs with the first commit.  Alternates would be
 * in objects/info. */
static const struct part {
	const char *name;
	bool read_only, is_optional;
} parts[] = {
	{ "objects", false, false }, { "objects/info", true, false }, { "refs", false, false },
	{ "logs", false, false },    { "lfs", false, true },
};
/* A wrong one breaks git in the whole repository. */
static const char *const leading[] = { "commondir", "gitdir" };

static int check_objects(const char *common, struct error *err)
{
	cleanup_free char *alternates = path_join(common, ALTERNATES);
	if (access(alternates, F_OK) < 0)
		return 0;
	cleanup_free char *shown = visible(alternates);
	return error_set(err, ERROR_INVALID,
			 "the repository has objects in another one (%s), which the container does "
			 "not have: omit --worktree or --container, or copy the objects with "
			 "git repack -a -d and remove that file",
			 shown);
}

static int add_part(struct recipe *recipe, const char *common, const struct part *part,
		    struct error *err)
{
	struct stat st;
	cleanup_free char *path = path_join(common, part->name), *shown = visible(path);
	if (part->is_optional && (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
		return 0;
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "mkdir %s", path);
	/* No start would mount it. */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return error_set(err, ERROR_INVALID,
				 "%s is a link, which no container mounts: use --clone, or omit "
				 "--worktree or --container",
				 shown);
	recipe_add_tree_mount(recipe, path, part->read_only);
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
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (add_part(recipe, repository.common, &parts[i], err) < 0)
			return -1;
	recipe_add_tree_mount(recipe, record, false);
	for (size_t i = 0; i < ARRAY_SIZE(leading); i++) {
		cleanup_free char *path = path_join(record, leading[i]);
		recipe_add_tree_mount(recipe, path, true);
	}
	return 0;
}

/* The record that was mounted when the tree was made. */
static const char *record_of(const struct recipe *recipe)
{
	for (size_t i = recipe ? recipe->mount_count : 0; i-- > 0;) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		cleanup_free char *above = xstrndup(
			mount->source, (size_t)(path_basename(mount->source) - mount->source));
		if (mount->of_tree && !mount->read_only && ends_with(above, "/worktrees/"))
			return mount->source;
	}
	return NULL;
}

struct gitcmd_linked inside_linked(const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	return (struct gitcmd_linked){
		.source = workspace->source,
		.path = workspace->path,
		.record = record_of(instance->recipe),
		.branch = workspace->branch,
	};
}

void inside_mend(const struct instance *instance)
{
	cleanup_error struct error err = { 0 };
	if (!instance->recipe || !instance->workspace || !instance->workspace->is_made ||
	    instance->workspace->kind != WORKSPACE_WORKTREE ||
	    access(instance->workspace->source, F_OK) != 0)
		return;
	const struct gitcmd_linked tree = inside_linked(instance);
	if (gitcmd_mend_record(&tree, NULL, &err) < 0)
		log_warning("git's record of the tree was not looked at: %s", err.message);
}

int inside_settle(struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	struct recipe *recipe = instance->recipe;
	if (!recipe)
		return 0;
	recipe_drop_tree_mounts(recipe);
	recipe_add_tree_mount(recipe, workspace->path, false);
	return workspace->kind == WORKSPACE_WORKTREE ? add_worktree(workspace, recipe, err) : 0;
}
