/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of the user's own agents.
 */
#include "unit/scratch.h"

#include "engine/deck/agentfiles.h"

#include <sys/stat.h>

static const char *at(const char *name)
{
	static char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static void put_agent(const char *name, const char *text)
{
	cleanup_close int directory = openat(here, "agents", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(directory, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

static void the_users_files_are_listed_by_name(void **state UNUSED)
{
	cleanup_strvec struct strvec files = { 0 };
	agentfiles_list(scratch, &files);
	assert_int_equal(files.count, 0);
	assert_int_equal(mkdirat(here, "agents", 0700), 0);
	put_agent("b.toml", "");
	put_agent("a.toml", "");
	put_agent(".c.toml", "");
	put_agent("d.toml~", "");
	agentfiles_list(scratch, &files);
	assert_int_equal(files.count, 2);
	assert_string_equal(files.items[0], at("agents/a.toml"));
	assert_string_equal(files.items[1], at("agents/b.toml"));
	cleanup_free char *name = agentfiles_name(files.items[0]);
	assert_string_equal(name, "a");
}

static void a_link_is_followed(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	struct error err = { 0 };
	put("real", "command = ['bird']\n");
	assert_int_equal(symlinkat("real", here, "bird.toml"), 0);
	if (agentfiles_apply(&registry, at("bird.toml"), &text, &err) != 0)
		fail_msg("%s", err.message);
	assert_non_null(registry_find(&registry, "bird"));
	assert_string_equal(strbuf_text(&text), "command = ['bird']\n");
}

static void what_cannot_be_used_is_told_with_its_path(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	put("bird.toml", "command = []\nx = 1\n");
	assert_int_equal(agentfiles_apply(&registry, at("bird.toml"), &text, &err), -1);
	cleanup_free char *place = xasprintf("%s:2:1: ", at("bird.toml"));
	assert_true(starts_with(err.message, place));
	assert_string_equal(strbuf_text(&text), "command = []\nx = 1\n");
	error_clear(&err);
	assert_int_equal(symlinkat("nowhere", here, "dangling.toml"), 0);
	assert_int_equal(agentfiles_apply(&registry, at("dangling.toml"), NULL, &err), -1);
	assert_true(strstr(err.message, "dangling.toml: No such file"));
	error_clear(&err);
	assert_int_equal(mkdirat(here, "directory.toml", 0700), 0);
	assert_int_equal(agentfiles_apply(&registry, at("directory.toml"), NULL, &err), -1);
	assert_int_equal(registry.count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_users_files_are_listed_by_name),
		TEST(a_link_is_followed),
		TEST(what_cannot_be_used_is_told_with_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
