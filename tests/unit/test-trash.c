/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions in the trash: test-store-crash.c has what a kill leaves.
 */
#include "unit/store-fixture.h"

#include "base/clock.h"
#include "driver/store/trash.h"

#define ONE "aaaa0001"
#define TWO "aaaa0002"

static void discard(struct store *store, const char *base)
{
	assert_int_equal(trash_put(lock_of(store, base), NULL), 0);
}

static struct trash list(struct store *store)
{
	struct trash trash = { 0 };
	assert_int_equal(trash_list(store, &trash, NULL), 0);
	return trash;
}

static int restore(struct store *store, struct removed *removed, const char *title)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_error struct error err = { 0 };
	assert_int_equal(store_lock_profile(store, 0, &lock, NULL), 0);
	return trash_restore(lock, removed, title, &err);
}

static int delete (struct store *store, const struct removed *removed)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	assert_int_equal(store_lock_profile(store, 0, &lock, NULL), 0);
	return trash_delete(lock, removed, NULL);
}

static void what_was_removed_comes_back_unchanged(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	cleanup_free char *before = content(fixture->store, ONE "/instance.json");
	discard(fixture->store, ONE);
	discard(fixture->store, TWO);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, 0);
	assert_false(is_there(fixture->store, ONE ".lock"));
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(trash.count, 2);
	assert_string_equal(trash.items[1].base, TWO);
	assert_string_equal(trash.items[0].instance->title, "one");
	assert_int_equal(restore(fixture->store, &trash.items[0], NULL), 0);
	cleanup_free char *after = content(fixture->store, ONE "/instance.json");
	assert_string_equal(after, before);
	store_unlock(lock_of(fixture->store, ONE));
}

/* Within a millisecond, and after the clock was set back. */
static void the_last_removed_is_the_last_of_the_list(void **state)
{
	const struct fixture *fixture = *state;
	char time[CLOCK_TEXT_SIZE];
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	discard(fixture->store, TWO);
	cleanup_trash struct trash first = list(fixture->store);
	cleanup_free char *now = xasprintf(".trash/%s", first.items[0].name);
	cleanup_free char *ahead = xasprintf(
		".trash/%s-" TWO, clock_format(clock_wall_us() + INT64_C(3600000000), time));
	const int directory = store_profile_directory(fixture->store);
	assert_int_equal(renameat(directory, now, directory, ahead), 0);
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(trash.count, 2);
	assert_string_equal(trash.items[1].base, ONE);
	assert_true(trash.items[1].removed_at > trash.items[0].removed_at);
}

static struct recipe *some_recipe(void)
{
	struct recipe *recipe = recipe_new();
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup("unix:///nowhere");
	recipe->image_id = xstrdup("sha256:0");
	recipe->user = xstrdup("1:1");
	recipe->home = xstrdup("/nowhere/home");
	recipe->directory = xstrdup("/nowhere");
	return recipe;
}

static void make_directories(struct store *store, const char *base)
{
	const int profile = store_profile_directory(store);
	cleanup_free char *home = xasprintf("%s/home", base);
	cleanup_free char *below = xasprintf("%s/home/.agent", base);
	cleanup_free char *link = xasprintf("%s/home/link", base);
	assert_int_equal(mkdirat(profile, home, 0700), 0);
	assert_int_equal(mkdirat(profile, below, 0700), 0);
	assert_int_equal(symlinkat("..", profile, link), 0);
}

/* What its agent had in a container is the session's, and nobody else's. */
static void a_container_goes_with_its_home(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = new_instance(ONE, "one");
	instance->recipe = some_recipe();
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	make_directories(fixture->store, ONE);
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(delete (fixture->store, &trash.items[0]), 0);
	cleanup_trash struct trash after = list(fixture->store);
	assert_int_equal(after.count, 0);
}

static void only_a_container_has_a_home_to_delete(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	make_directories(fixture->store, ONE);
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(delete (fixture->store, &trash.items[0]), TRASH_KEPT);
	assert_int_equal(restore(fixture->store, &trash.items[0], NULL), 0);
	assert_true(is_there(fixture->store, ONE "/home/.agent"));
}

static void it_can_come_back_with_another_title(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(restore(fixture->store, &trash.items[0], "other"), 0);
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), 0);
	assert_string_equal(instance->title, "other");
}

static void nothing_that_exists_is_replaced(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	discard(fixture->store, ONE);
	make(fixture->store, ONE, "again");
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(restore(fixture->store, &trash.items[0], NULL), -1);
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), 0);
	assert_string_equal(instance->title, "again");
	/* The same name twice in the trash. */
	discard(fixture->store, ONE);
	cleanup_trash struct trash both = list(fixture->store);
	assert_int_equal(both.count, 2);
}

static void only_what_is_ours_is_deleted(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	put_content(fixture->store, ONE "/instance.json.damaged-2026", "{");
	put_content(fixture->store, TWO "/notes", "mine");
	discard(fixture->store, ONE);
	discard(fixture->store, TWO);
	assert_int_equal(mkdirat(store_profile_directory(fixture->store), ".trash/mine", 0700), 0);
	assert_int_equal(symlinkat("/tmp", store_profile_directory(fixture->store),
				   ".trash/2026-01-01T00:00:00.000Z-aaaa0009"),
			 0);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_int_equal(trash.count, 2);
	assert_int_equal(delete (fixture->store, &trash.items[0]), 0);
	assert_int_equal(delete (fixture->store, &trash.items[1]), TRASH_KEPT);
	cleanup_trash struct trash left = list(fixture->store);
	assert_int_equal(left.count, 1);
	assert_non_null(left.items[0].instance);
	assert_true(is_there(fixture->store, ".trash/mine"));
	/* It is deleted already. */
	assert_int_equal(delete (fixture->store, &trash.items[0]), 0);
}

static void only_regular_files_are_deleted(void **state)
{
	const struct fixture *fixture = *state;
	const int directory = store_profile_directory(fixture->store);
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	assert_int_equal(mkdirat(directory, TWO "/instance.json.damaged-2026", 0700), 0);
	discard(fixture->store, ONE);
	discard(fixture->store, TWO);
	cleanup_trash struct trash trash = list(fixture->store);
	/* A lock clears what is left of a temporary file, so it comes here. */
	cleanup_free char *link = xasprintf(".trash/%s/.tmp-link", trash.items[0].name);
	assert_int_equal(symlinkat("/tmp", directory, link), 0);
	assert_int_equal(delete (fixture->store, &trash.items[0]), TRASH_KEPT);
	assert_int_equal(delete (fixture->store, &trash.items[1]), TRASH_KEPT);
	cleanup_trash struct trash left = list(fixture->store);
	assert_int_equal(left.count, 2);
	assert_non_null(left.items[0].instance);
	assert_non_null(left.items[1].instance);
}

static void a_damaged_one_comes_back_as_it_was(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", "{");
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	assert_null(trash.items[0].instance);
	assert_false(trash.items[0].is_rest);
	assert_int_equal(restore(fixture->store, &trash.items[0], NULL), 0);
	cleanup_free char *text = content(fixture->store, ONE "/instance.json");
	assert_string_equal(text, "{");
}

static void the_rest_of_a_deletion_is_known_as_such(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	discard(fixture->store, ONE);
	cleanup_trash struct trash trash = list(fixture->store);
	cleanup_free char *manifest = xasprintf(".trash/%s/instance.json", trash.items[0].name);
	assert_int_equal(unlinkat(store_profile_directory(fixture->store), manifest, 0), 0);
	cleanup_trash struct trash after = list(fixture->store);
	assert_true(after.items[0].is_rest);
	assert_int_equal(delete (fixture->store, &after.items[0]), 0);
	cleanup_trash struct trash none = list(fixture->store);
	assert_int_equal(none.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(what_was_removed_comes_back_unchanged),
		STORE_TEST(the_last_removed_is_the_last_of_the_list),
		STORE_TEST(it_can_come_back_with_another_title),
		STORE_TEST(nothing_that_exists_is_replaced),
		STORE_TEST(a_container_goes_with_its_home),
		STORE_TEST(only_a_container_has_a_home_to_delete),
		STORE_TEST(only_what_is_ours_is_deleted),
		STORE_TEST(only_regular_files_are_deleted),
		STORE_TEST(a_damaged_one_comes_back_as_it_was),
		STORE_TEST(the_rest_of_a_deletion_is_known_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
