/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a new tree gets that Git does not have: copied files, and the user's setup.
 */
#include "unit/tree-fixture.h"

#include "base/fsutil.h"
#include "engine/workspace/setup.h"

#include <fcntl.h>

#define TREE "default/trees/" ID "/project"

static void say(struct strvec *words, const char *const *items)
{
	strvec_clear(words);
	strvec_push_array(words, items);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct instance *made(struct desk *desk)
{
	struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	cleanup_error struct error err = { 0 };
	if (ensure(desk, instance, &err) < 0)
		fail_msg("%s", err.message);
	return instance;
}

static int set_up(struct desk *desk, struct instance *instance, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	return setup_run(&desk->deck, lock, instance, err);
}

static int leave(struct desk *desk, struct instance *instance)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	return setup_leave(lock, instance, NULL);
}

static void files_are_copied_and_links_are_not(void **state)
{
	struct desk *desk = *state;
	say(&desk->deck.settings.workspace.copy,
	    WORDS(".env", "conf/deep/local", "a", "missing", "link", "below/secret", "pipe",
		  "taken/file"));
	do_sh(desk,
	      "mkdir -p project/conf/deep outside && cd project && echo key >.env && "
	      "chmod 600 .env && echo local >conf/deep/local && echo secret >../outside/secret "
	      "&& ln -s ../outside/secret link && ln -s ../outside below && mkfifo pipe");
	do_sh(desk, "cd project && mkdir -p taken && echo x >taken/file");
	cleanup_instance struct instance *instance = made(desk);
	do_sh(desk,
	      "cd " TREE " && test key = \"$(cat .env)\" && test 600 = \"$(stat -c %a .env)\" && "
	      "test local = \"$(cat conf/deep/local)\" && test ! -e link && test ! -e below && "
	      "test ! -e pipe && test a = \"$(cat a)\"");
	assert_int_equal(desk->deck.warnings.count, 3);
	assert_int_equal(instance->workspace->setup, SETUP_NONE);
}

/* The repository has a link where the copy would go. */
static void nothing_is_written_through_a_link_of_the_tree(void **state)
{
	struct desk *desk = *state;
	do_sh(desk, "mkdir victim && cd project && git init -q -b main && "
		    "ln -s ../../../../victim conf && git add conf");
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd project && rm conf && mkdir conf && echo x >conf/file");
	say(&desk->deck.settings.workspace.copy, WORDS("conf/file"));
	assert_int_equal(ensure(desk, instance, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
	do_sh(desk, "test -L " TREE "/conf && test ! -e victim/file");
}

static void a_setup_runs_once(void **state)
{
	struct desk *desk = *state;
	say(&desk->deck.settings.workspace.setup, WORDS("sh", "-c", "echo hello; echo x >>runs"));
	cleanup_instance struct instance *instance = made(desk);
	assert_int_equal(instance->workspace->setup, SETUP_WANTED);
	assert_int_equal(set_up(desk, instance, NULL), 0);
	assert_int_equal(set_up(desk, instance, NULL), 0);
	do_sh(desk, "test x = \"$(cat " TREE "/runs)\" && "
		    "test hello = \"$(cat default/trees/" ID "/setup.log)\"");
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_int_equal(stored->workspace->setup, SETUP_NONE);
}

static void a_setup_that_fails_is_tried_again_or_left_out(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error err = { 0 };
	say(&desk->deck.settings.workspace.setup,
	    WORDS("sh", "-c", "echo x >>runs; echo no network >&2; exit 3"));
	cleanup_instance struct instance *instance = made(desk);
	assert_int_equal(set_up(desk, instance, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_non_null(strstr(err.message, "exit status 3: no network"));
	assert_non_null(strstr(err.message, "--no-setup"));
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_int_equal(stored->workspace->setup, SETUP_FAILED);
	assert_int_equal(set_up(desk, instance, NULL), -1);
	do_sh(desk, "test 2 = \"$(wc -l <" TREE "/runs)\"");
	assert_int_equal(leave(desk, instance), 0);
	assert_int_equal(instance->workspace->setup, SETUP_NONE);
}

static void a_setup_that_takes_too_long_is_ended_with_what_it_started(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error err = { 0 };
	cleanup_fs_lock struct fs_lock log = FS_UNLOCKED;
	say(&desk->deck.settings.workspace.setup, WORDS("sh", "-c", "sleep 1000 & sleep 1000"));
	desk->deck.settings.setup_timeout_s = 1;
	cleanup_instance struct instance *instance = made(desk);
	assert_int_equal(set_up(desk, instance, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	assert_non_null(strstr(err.message, "setup_timeout (1 s)"));
	/* What it started held the lock. */
	cleanup_free char *path = setup_log(&desk->deck, instance);
	assert_int_equal(fs_lock(AT_FDCWD, path, clock_ms() + 10000, &log, NULL), 0);
}

/* Its command was killed. */
static void a_second_setup_does_not_run_beside_the_first(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error err = { 0 };
	say(&desk->deck.settings.workspace.setup, WORDS("sh", "-c", "echo x >>runs"));
	desk->deck.settings.setup_timeout_s = 1;
	cleanup_instance struct instance *instance = made(desk);
	{
		cleanup_fs_lock struct fs_lock first = FS_UNLOCKED;
		cleanup_free char *path = setup_log(&desk->deck, instance);
		assert_int_equal(fs_lock(AT_FDCWD, path, 0, &first, NULL), 0);
		assert_int_equal(set_up(desk, instance, &err), -1);
		assert_int_equal(err.code, ERROR_TIMEOUT);
		do_sh(desk, "test ! -e " TREE "/runs");
	}
	assert_int_equal(set_up(desk, instance, NULL), 0);
}

static void put_inside(struct instance *instance)
{
	replace_string(&instance->backend, "container");
	instance->recipe = recipe_new();
	instance->recipe->home = xstrdup("/nowhere/home");
}

static void a_setup_for_a_container_does_not_run_here(void **state)
{
	struct desk *desk = *state;
	say(&desk->deck.settings.workspace.setup, WORDS("touch", "ran"));
	cleanup_instance struct instance *instance = made(desk);
	put_inside(instance);
	assert_int_equal(set_up(desk, instance, NULL), 0);
	do_sh(desk, "test ! -e " TREE "/ran");
	assert_int_equal(instance->workspace->setup, SETUP_WANTED);
}

static int end_inside(struct desk *desk, struct instance *instance, int status,
		      struct error *failure, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_child_result struct child_result result = { .exit_status = status };
	strbuf_adds(&result.output, "its words\n");
	return setup_end_inside(&desk->deck, lock, instance, &result, failure, err);
}

static void a_setup_inside_is_over_when_it_succeeds(void **state)
{
	struct desk *desk = *state;
	say(&desk->deck.settings.workspace.setup, WORDS("touch", "ran"));
	cleanup_instance struct instance *instance = made(desk);
	cleanup_strvec struct strvec argv = { 0 }, none = { 0 };
	cleanup_error struct error err = { 0 }, late = { 0 };
	struct error failure = { 0 };
	assert_false(setup_begin_inside(&desk->deck, instance, &none));
	put_inside(instance);
	assert_true(setup_begin_inside(&desk->deck, instance, &argv));
	assert_int_equal(argv.count, 2);
	assert_int_equal(end_inside(desk, instance, 3, NULL, &err), -1);
	assert_non_null(strstr(err.message, "exit status 3: its words"));
	assert_int_equal(instance->workspace->setup, SETUP_FAILED);
	do_sh(desk, "grep -x 'its words' default/trees/" ID "/setup.log");
	(void)error_set(&failure, ERROR_TIMEOUT, "it did not end");
	assert_int_equal(end_inside(desk, instance, 0, &failure, &late), -1);
	assert_int_equal(late.code, ERROR_TIMEOUT);
	assert_int_equal(end_inside(desk, instance, 0, NULL, NULL), 0);
	assert_false(setup_begin_inside(&desk->deck, instance, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(files_are_copied_and_links_are_not),
		DESK_TEST(nothing_is_written_through_a_link_of_the_tree),
		DESK_TEST(a_setup_runs_once),
		DESK_TEST(a_setup_that_fails_is_tried_again_or_left_out),
		DESK_TEST(a_setup_that_takes_too_long_is_ended_with_what_it_started),
		DESK_TEST(a_second_setup_does_not_run_beside_the_first),
		DESK_TEST(a_setup_for_a_container_does_not_run_here),
		DESK_TEST(a_setup_inside_is_over_when_it_succeeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
