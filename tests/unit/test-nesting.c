/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where an agent in a container can put a link, no other container begins.
 */
#include "unit/report-fixture.h"

#include "engine/place/container/nesting.h"

#include <sys/stat.h>

/* A session in a container, saved, whose directory is this one of the desk's. */
static void add_session(struct desk *desk, const char *id, const char *profile,
			const char *directory)
{
	cleanup_instance struct instance *instance = new_instance(id, id);
	cleanup_store struct store *store = NULL;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	struct recipe *recipe = instance->recipe = recipe_new();
	replace_string(&instance->profile, profile);
	replace_string(&instance->backend, "container");
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup("unix:///nowhere");
	recipe->image_id = xstrdup("sha256:0");
	recipe->user = xstrdup("1:1");
	recipe->home = xasprintf("%s/%s/%s/home", desk->root, profile, id);
	recipe->directory = path_join(desk->root, directory);
	assert_int_equal(deck_open_profile(&desk->deck, profile, &store, NULL), 0);
	assert_int_equal(store_lock_profile(store, clock_ms() + LONG_MS, &lock, NULL), 0);
	assert_int_equal(store_create(lock, instance, NULL, NULL), 0);
}

static void make_directory(struct desk *desk, const char *name)
{
	cleanup_free char *path = path_join(desk->root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static struct recipe *wish(struct desk *desk, const char *directory)
{
	struct recipe *recipe = recipe_new();
	recipe->directory = directory ? path_join(desk->root, directory) : NULL;
	return recipe;
}

static void mount(struct desk *desk, struct recipe *recipe, const char *source, const char *target,
		  bool read_only)
{
	cleanup_free char *path = path_join(desk->root, source);
	recipe_add_mount(recipe, path, target ? target : path, read_only);
}

static void may(struct desk *desk, const struct recipe *recipe)
{
	cleanup_error struct error err = { 0 };
	if (nesting_check(&desk->deck, NULL, recipe, &err) < 0)
		fail_msg("%s", err.message);
}

static void may_not(struct desk *desk, const struct recipe *recipe, const char *words)
{
	cleanup_error struct error err = { 0 };
	assert_int_equal(nesting_check(&desk->deck, NULL, recipe, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	if (!strstr(err.message, words))
		fail_msg("%s", err.message);
}

static void a_place_below_its_own_directory_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_recipe struct recipe *recipe = wish(desk, "mw"), *deep = wish(desk, "mw");
	mount(desk, recipe, "mwx", "/beside", false);
	mount(desk, recipe, "mw/fixed", NULL, true);
	may(desk, recipe);
	mount(desk, recipe, "mw/out", "/out", false);
	may_not(desk, recipe, "that of this session");
	mount(desk, deep, "mw/a/b", NULL, true);
	may_not(desk, deep, "that of this session");
}

static void a_read_only_directory_is_changed_by_nobody_inside(void **state)
{
	struct desk *desk = *state;
	cleanup_recipe struct recipe *recipe = wish(desk, "mw");
	mount(desk, recipe, "data", NULL, true);
	mount(desk, recipe, "data/part", "/part", false);
	may(desk, recipe);
}

/* In both orders, and of all profiles. */
static void a_place_below_that_of_another_session_is_refused(void **state)
{
	struct desk *desk = *state;
	static const char *const profiles[] = { "default", "work" };
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		cleanup_free char *name = xasprintf("mono-%zu", i),
				  *id = xasprintf("%zuaaaaaaa", i);
		cleanup_free char *below = xasprintf("mono-%zu/api/src", i);
		cleanup_free char *above = xasprintf("mono-%zu/api", i);
		cleanup_recipe struct recipe *same = wish(desk, above), *inner = wish(desk, below),
					     *outer = wish(desk, name), *tree = wish(desk, NULL);
		add_session(desk, id, profiles[i], above);
		may(desk, same);
		may(desk, tree);
		may_not(desk, inner, id);
		may_not(desk, outer, id);
		mount(desk, tree, name, "/mono", true);
		may(desk, tree);
		mount(desk, tree, below, "/src", true);
		may_not(desk, tree, id);
	}
}

/* Its own present recipe is the one that is changed. */
static void a_session_may_move_within_its_own_directory(void **state)
{
	struct desk *desk = *state;
	cleanup_recipe struct recipe *recipe = wish(desk, "mw/below");
	add_session(desk, "0aaaaaaa", "default", "mw");
	assert_int_equal(nesting_check(&desk->deck, "0aaaaaaa", recipe, NULL), 0);
	may_not(desk, recipe, "0aaaaaaa");
}

/* A commit needs it, and is often in the directory of another session. */
static void the_repository_of_a_worktree_may_be_another_session_s(void **state)
{
	struct desk *desk = *state;
	cleanup_recipe struct recipe *recipe = wish(desk, "trees/x");
	cleanup_free char *tree = path_join(desk->root, "trees/x");
	cleanup_free char *git = path_join(desk->root, "mw/.git");
	add_session(desk, "0aaaaaaa", "default", "mw");
	recipe_add_tree_mount(recipe, tree, false);
	recipe_add_tree_mount(recipe, git, false);
	may(desk, recipe);
}

static void agentdeck_s_own_files_are_not_for_an_agent(void **state)
{
	struct desk *desk = *state;
	cleanup_recipe struct recipe *home = wish(desk, NULL), *profile = wish(desk, "default");
	replace_string(&home->directory, desk->root);
	may_not(desk, home, "of agentdeck's");
	may_not(desk, profile, "of agentdeck's");
}

/* What is mounted read-only can be connected to. */
static void sockets_of_agentdeck_s_are_not_for_an_agent(void **state)
{
	struct desk *desk = *state;
	const char *const places[] = { "runtime", "direct", "default", "config",
				       "user/agentdeck.socket" };
	cleanup_free char *runtime = path_join(desk->root, "runtime/agentdeck");
	cleanup_free char *direct = path_join(desk->root, "direct/agentdeck-1");
	cleanup_free char *config = path_join(desk->root, "config/agentdeck");
	replace_string(&desk->deck.paths.runtime, runtime);
	replace_string(&desk->deck.paths.direct, direct);
	replace_string(&desk->deck.paths.config, config);
	cleanup_free char *user = path_join(desk->root, "user");
	replace_string(&desk->deck.paths.user_runtime, user);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const bool has_sockets = !streq(places[i], "config");
		cleanup_recipe struct recipe *written = wish(desk, NULL), *read = wish(desk, NULL);
		mount(desk, written, places[i], "/seen", false);
		mount(desk, read, places[i], "/seen", true);
		may_not(desk, written, "of agentdeck's");
		if (has_sockets)
			may_not(desk, read, "sockets");
		else
			may(desk, read);
	}
}

static void expect_path(struct desk *desk, const char *path, int result)
{
	cleanup_free char *whole = path_join(desk->root, path);
	cleanup_error struct error err = { 0 };
	if (nesting_check_path(&desk->deck, whole, &err) != result)
		fail_msg("%s: %s", path, or_empty(err.message));
}

static void a_link_that_an_agent_can_have_made_is_not_followed(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *planted = path_join(desk->root, "mw/out");
	cleanup_free char *own = path_join(desk->root, "own");
	cleanup_free char *chain = path_join(desk->root, "chain");
	make_directory(desk, "mw");
	make_directory(desk, "keys");
	make_directory(desk, "keys/sub");
	add_session(desk, "0aaaaaaa", "default", "mw");
	assert_int_equal(symlink("../keys", planted), 0);
	assert_int_equal(symlink("keys", own), 0);
	assert_int_equal(symlink("mw/out", chain), 0);
	expect_path(desk, "mw", 0);
	expect_path(desk, "own/sub", 0);
	expect_path(desk, "mw/out", -1);
	expect_path(desk, "mw/out/sub", -1);
	expect_path(desk, "chain", -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_place_below_its_own_directory_is_refused),
		DESK_TEST(a_read_only_directory_is_changed_by_nobody_inside),
		DESK_TEST(a_place_below_that_of_another_session_is_refused),
		DESK_TEST(a_session_may_move_within_its_own_directory),
		DESK_TEST(the_repository_of_a_worktree_may_be_another_session_s),
		DESK_TEST(agentdeck_s_own_files_are_not_for_an_agent),
		DESK_TEST(sockets_of_agentdeck_s_are_not_for_an_agent),
		DESK_TEST(a_link_that_an_agent_can_have_made_is_not_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
