/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a container has of a tree that was made for its session.
 */
#include "unit/tree-fixture.h"

#include "engine/place/container/inside.h"

/* What a container has of a tree: "PATH" and "PATH:ro" of each mount, below the desk's directory. */
static char *mounts_of(const struct desk *desk, const struct recipe *recipe)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < recipe->mount_count; i++) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		assert_string_equal(mount->source, mount->target);
		assert_true(starts_with(mount->source, desk->root));
		strbuf_addf(&text, "%s%s ", mount->source + strlen(desk->root) + 1,
			    mount->read_only ? ":ro" : "");
	}
	return strbuf_take(&text);
}

static void a_container_writes_only_what_a_commit_does(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	instance->recipe = recipe_new();
	instance->recipe->directory = xstrdup(instance->cwd);
	/* Of an earlier tree. */
	recipe_add_tree_mount(instance->recipe, "/old", false);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	cleanup_free char *mounts = mounts_of(desk, instance->recipe);
	assert_string_equal(mounts, "default/trees/" ID "/project project/.git:ro "
				    "project/.git/objects project/.git/objects/info:ro "
				    "project/.git/refs project/.git/logs "
				    "project/.git/worktrees/project "
				    "project/.git/worktrees/project/commondir:ro "
				    "project/.git/worktrees/project/gitdir:ro ");
	assert_true(recipe_has_tree(instance->recipe));
}

/* Where the repository has some.  Git LFS could not store what an agent commits. */
static void a_container_writes_large_files_where_its_repository_has_them(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "mkdir -p project/.git/lfs/objects");
	instance->recipe = recipe_new();
	instance->recipe->directory = xstrdup(instance->cwd);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	cleanup_free char *mounts = mounts_of(desk, instance->recipe);
	assert_non_null(strstr(mounts, " project/.git/lfs "));
}

static void a_container_has_nothing_of_the_source_of_a_clone(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_CLONE);
	instance->recipe = recipe_new();
	instance->recipe->directory = xstrdup(instance->cwd);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	cleanup_free char *mounts = mounts_of(desk, instance->recipe);
	assert_string_equal(mounts, "default/trees/" ID "/project ");
}

static void objects_that_a_container_lacks_are_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	cleanup_error struct error err = { 0 };
	do_sh(desk, "mkdir elsewhere && cd project && cp -r .git/objects ../elsewhere && "
		    "echo ../../../elsewhere/objects >.git/objects/info/alternates");
	instance->recipe = recipe_new();
	instance->recipe->directory = xstrdup(instance->cwd);
	assert_int_equal(ensure(desk, instance, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "git repack"));
}

/* Some tools share objects between checkouts in this way.  The engine would follow a link. */
static void parts_that_are_links_are_refused(void **state)
{
	static const char *const parts[] = { "objects", "objects/info", "refs", "logs" };
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
		cleanup_error struct error err = { 0 };
		cleanup_free char *script = xasprintf("mkdir -p project/.git/%s && "
						      "mv project/.git/%s elsewhere && "
						      "ln -s \"$PWD/elsewhere\" project/.git/%s",
						      parts[i], parts[i], parts[i]);
		do_sh(desk, script);
		instance->recipe = recipe_new();
		instance->recipe->directory = xstrdup(instance->cwd);
		assert_int_equal(ensure(desk, instance, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		cleanup_free char *link = xasprintf("/.git/%s is a link", parts[i]);
		assert_non_null(strstr(err.message, link));
		assert_non_null(strstr(err.message, "--clone"));
		do_sh(desk,
		      "rm -rf project elsewhere default/" ID " default/trees && mkdir project");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_container_writes_only_what_a_commit_does),
		DESK_TEST(a_container_writes_large_files_where_its_repository_has_them),
		DESK_TEST(a_container_has_nothing_of_the_source_of_a_clone),
		DESK_TEST(objects_that_a_container_lacks_are_refused),
		DESK_TEST(parts_that_are_links_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
