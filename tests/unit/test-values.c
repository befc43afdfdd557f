/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/tomltext.h"
#include "model/settings/values.h"

#include <string.h>

static void every_key_is_described(void **state UNUSED)
{
	cleanup_settings struct settings defaults = { 0 };
	settings_init(&defaults);
	for (size_t i = 0; settings_key(i); i++) {
		const struct toml_key *key = settings_key(i);
		cleanup_json struct json_object *value = settings_value(&defaults, key);
		if (!*key->about || strlen(key->about) > 80 || strchr(key->about, '\n'))
			fail_msg("%s: describe it in one line", key->path);
		if (key->type == TOML_OTHER)
			fail_msg("%s: nobody can read its value", key->path);
		if (!value && !key->example)
			fail_msg("%s: give an example, since its default shows none", key->path);
	}
}

/* Remove the "# " of each line that shows a key. */
static char *without_comments(const char *starter)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *copy = xstrdup(starter);
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const bool is_comment = starts_with(line, "# ");
		const size_t word = is_comment ? strcspn(line + 2, " ") : 0;
		const bool is_key = is_comment && starts_with(line + 2 + word, " = ");
		strbuf_addf(&text, "%s\n", is_key ? line + 2 : line);
	}
	return strbuf_take(&text);
}

static void the_starter_file_changes_nothing_and_shows_every_key(void **state UNUSED)
{
	cleanup_settings struct settings defaults = { 0 }, empty = { 0 }, full = { 0 };
	cleanup_free char *starter = settings_starter();
	cleanup_free char *text = without_comments(starter);
	cleanup_toml_document struct toml_document document = { 0 };
	cleanup_error struct error err = { 0 };
	settings_init(&defaults);
	if (settings_parse(starter, strlen(starter), "starter", &empty, &err) != 0 ||
	    settings_parse(text, strlen(text), "starter", &full, &err) != 0 ||
	    toml_document_parse(text, strlen(text), "starter", &document, &err) != 0)
		fail_msg("%s\n%s", err.message, text);
	for (size_t i = 0; settings_key(i); i++) {
		const struct toml_key *key = settings_key(i);
		cleanup_json struct json_object *before = settings_value(&defaults, key),
						*after = settings_value(&empty, key),
						*shown = settings_value(&full, key);
		if (!toml_document_has(&document, key->path))
			fail_msg("%s is not in the starter file:\n%s", key->path, text);
		assert_true(json_object_equal(before, after));
		if (!key->example)
			assert_true(json_object_equal(before, shown));
	}
}

static void a_value_reads_as_it_is_written(void **state UNUSED)
{
	static const char text[] = "resume = \"confirm\"\n[limits]\nmemory_max = \"1536M\"\n"
				   "memory_high = \"infinity\"\ntasks_max = 7\n"
				   "[restart]\npolicy = \"always\"\n[tmux]\nlinger = false\n"
				   "[notify]\non = []\n";
	static const struct {
		const char *path, *literal;
	} expected[] = {
		{ "resume.policy", "\"confirm\"" }, { "limits.memory_max", "\"1.5G\"" },
		{ "limits.tasks_max", "7" },        { "limits.memory_high", "\"infinity\"" },
		{ "limits.cpu_weight", "0" },       { "restart.policy", "\"always\"" },
		{ "tmux.linger", "false" },         { "notify.on", "[]" },
		{ "default_agent", "\"\"" },        { "tmux.mouse", "true" },
	};
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "c", &settings, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct toml_key *key = settings_find_key(expected[i].path, NULL);
		cleanup_json struct json_object *value = settings_value(&settings, key);
		cleanup_free char *literal = toml_literal(value);
		assert_string_equal(literal, expected[i].literal);
	}
}

static void a_key_is_found_by_its_path(void **state UNUSED)
{
	const char *nearest = NULL;
	assert_string_equal(settings_find_key("tmux.mouse", NULL)->path, "tmux.mouse");
	assert_string_equal(settings_find_key("groups.a.limits", NULL)->path, "groups");
	assert_null(settings_find_key("tmux.mouse.x", &nearest));
	assert_null(settings_find_key("tmux.muose", &nearest));
	assert_string_equal(nearest, "tmux.mouse");
	assert_null(settings_find_key("resume", NULL));
	assert_null(settings_find_key("qqqqqqq", &nearest));
	assert_null(nearest);
}

static void every_mistake_is_said_once(void **state UNUSED)
{
	static const char text[] = "colour = 1\n[tmux]\nmouse = 3\nhistory_limit = 9\n"
				   "[stop]\ntimeout = 0\n[groups.work.limits]\nmemory_max = \"x\"\n"
				   "tasks_max = -1\n[groups.\"a/\".limits]\ntasks_max = 1\n"
				   "cpu_weight = 1\n[resume.agents]\na = \"x\"\nb = \"y\"\n";
	static const char *const places[] = { "c:1:1: ",
					      "c:3:1: tmux.mouse",
					      "c:6:1: stop.timeout",
					      "c:8:1: groups.work.limits.memory_max",
					      "c:9:1: groups.work.limits.tasks_max",
					      "c:10:",
					      "c:14:1: resume.agents.a",
					      "c:15:1: resume.agents.b" };
	cleanup_strvec struct strvec found = { 0 }, syntax = { 0 }, none = { 0 };
	settings_check(text, strlen(text), "c", &found);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		bool is_there = false;
		for (size_t j = 0; j < found.count; j++)
			is_there |= starts_with(found.items[j], places[i]);
		if (!is_there)
			fail_msg("nobody says %s", places[i]);
	}
	assert_int_equal(found.count, ARRAY_SIZE(places));
	settings_check("a = [\n", 6, "c", &syntax);
	assert_int_equal(syntax.count, 1);
	settings_check("[tmux]\nmouse = true\n", 20, "c", &none);
	assert_int_equal(none.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_described),
		cmocka_unit_test(the_starter_file_changes_nothing_and_shows_every_key),
		cmocka_unit_test(a_value_reads_as_it_is_written),
		cmocka_unit_test(a_key_is_found_by_its_path),
		cmocka_unit_test(every_mistake_is_said_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
