/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The conversations that an agent has on disk.
 */
#include "unit/scratch.h"

#include "driver/transcript/shelf.h"
#include "unit/files.h"

#include <sys/stat.h>

#define ID_A "11111111-1111-4111-8111-111111111111"
#define ID_B "22222222-2222-4222-8222-222222222222"

/* A file of the scratch directory, with the directories above it. */
static void lay(const char *name, const char *text, time_t modified)
{
	cleanup_free char *path = path_join(scratch, name);
	for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	write_path(path, text, strlen(text));
	const struct timespec times[] = { { .tv_sec = modified }, { .tv_sec = modified } };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void list(const char *layout, struct shelf *ret)
{
	assert_int_equal(shelf_list(layout, scratch, ret, NULL), 0);
}

static void expect(const struct shelf_item *item, const char *directory, const char *words)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	assert_int_equal(shelf_look(item, &about, NULL), 0);
	assert_string_equal(or_empty(about.directory), directory);
	assert_string_equal(or_empty(about.words), words);
	assert_false(about.is_side);
}

static void the_newest_comes_first(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"message\":{\"content\":\"hello\"}}\n", 1000);
	lay("projects/-b/" ID_B ".jsonl", "{\"type\":\"mode\"}\n", 2000);
	lay("projects/-b/agent-1.jsonl", "", 3000);
	lay("projects/-b/notes.txt", "", 3000);
	list("projects", &shelf);
	assert_int_equal(shelf.count, 2);
	assert_string_equal(shelf.items[0].session_id, ID_B);
	expect(&shelf.items[0], "", "");
	assert_string_equal(shelf.items[1].session_id, ID_A);
	expect(&shelf.items[1], "/a", "hello");
	assert_ptr_equal(shelf_find(&shelf, ID_A), &shelf.items[1]);
	assert_null(shelf_find(&shelf, "33333333-3333-4333-8333-333333333333"));
}

static void what_the_agent_adds_was_not_typed(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"isMeta\":true,\"message\":{\"content\":\"meta\"}}\n"
	    "{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"content\":\"side\"}}\n"
	    "{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/clear</command-name>\"}}\n"
	    "torn {\n"
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"words\"}]}}\n",
	    1000);
	list("projects", &shelf);
	expect(&shelf.items[0], "/a", "words");
}

static void a_rollout_names_its_directory_and_its_kind(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_A ".jsonl",
	    "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/a\",\"thread_source\":\"user\"}}\n"
	    "{\"payload\":{\"role\":\"user\",\"content\":[{\"text\":\"<environment_context>\"}]}}\n"
	    "{\"payload\":{\"role\":\"user\",\"content\":[{\"text\":\"words\"}]}}\n",
	    2000);
	lay("sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_B ".jsonl",
	    "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/a\",\"thread_source\":\"subagent\"}}\n",
	    1000);
	list("rollouts", &shelf);
	assert_int_equal(shelf.count, 2);
	expect(&shelf.items[0], "/a", "words");
	cleanup_shelf_about struct shelf_about about = { 0 };
	assert_int_equal(shelf_look(&shelf.items[1], &about, NULL), 0);
	assert_true(about.is_side);
}

static void chats_have_parts(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/chats/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"message\":{\"parts\":[{\"text\":\"words\"}]}}\n",
	    1000);
	list("chats", &shelf);
	assert_int_equal(shelf.count, 1);
	expect(&shelf.items[0], "/a", "words");
}

static void nothing_is_there(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	list("projects", &shelf);
	assert_int_equal(shelf.count, 0);
	list("unknown", &shelf);
	assert_int_equal(shelf.count, 0);
	assert_false(shelf_is_layout("unknown"));
	assert_true(shelf_is_layout("rollouts"));
}

static void one_that_has_gone_is_told(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	struct shelf_about about = { 0 };
	lay("projects/-a/" ID_A ".jsonl", "", 1000);
	list("projects", &shelf);
	assert_int_equal(unlink(shelf.items[0].path), 0);
	assert_int_equal(shelf_look(&shelf.items[0], &about, NULL), SHELF_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_comes_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_agent_adds_was_not_typed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_rollout_names_its_directory_and_its_kind, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(chats_have_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_has_gone_is_told, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
