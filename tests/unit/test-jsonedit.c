/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken out of a JSON text leaves JSON, without that value and with every other byte.
 */
#include "unit/test.h"

#include "base/jsonedit.h"
#include "base/jsonio.h"

#include <string.h>

/* path: parts with "/" between them. */
static bool find(const char *text, const char *path, struct json_place *ret)
{
	cleanup_strvec struct strvec parts = { 0 };
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy;
	for (char *part; (part = strsep(&rest, "/"));)
		strvec_push(&parts, part);
	return json_find(text, strlen(text), &parts, ret);
}

static void assert_cut(const char *text, const char *path, const char *shown, const char *expected)
{
	cleanup_json struct json_object *object = NULL;
	struct json_place place;
	if (!find(text, path, &place))
		fail_msg("%s is not found", path);
	cleanup_free char *found = xstrndup(text + place.start, place.end - place.start);
	cleanup_free char *cut = xasprintf("%.*s%s", (int)place.cut_from, text,
					   text + place.cut_to);
	assert_string_equal(found, shown);
	assert_string_equal(cut, expected);
	assert_int_equal(json_parse(cut, strlen(cut), "", &object, NULL), 0);
}

static void a_value_goes_with_its_comma(void **state UNUSED)
{
	assert_cut("{\"a\": 1, \"b\": 2}", "a", "\"a\": 1", "{\"b\": 2}");
	assert_cut("{\"a\": 1, \"b\": 2}", "b", "\"b\": 2", "{\"a\": 1}");
	assert_cut("{ \"a\" : 1 }", "a", "\"a\" : 1", "{}");
	assert_cut("[1, 2, 3]", "1", "2", "[1, 3]");
	assert_cut("[1, 2, 3]", "2", "3", "[1, 2]");
	assert_cut("[ [] ]\n", "0", "[]", "[]\n");
	assert_cut("{\n  \"a\": {\n    \"b\": []\n  },\n  \"c\": null\n}\n", "a",
		   "\"a\": {\n    \"b\": []\n  }", "{\n  \"c\": null\n}\n");
	assert_cut("{\r\n\t\"a\": 1,\r\n\t\"c\": -1.5e3\r\n}", "c", "\"c\": -1.5e3",
		   "{\r\n\t\"a\": 1\r\n}");
}

static void a_path_leads_through_all_kinds(void **state UNUSED)
{
	static const char text[] = "{\"x\": [0, {\"y\": \"z\", \"w\": [true]}]}";
	assert_cut(text, "x/1/y", "\"y\": \"z\"", "{\"x\": [0, {\"w\": [true]}]}");
	assert_cut(text, "x/1/w/0", "true", "{\"x\": [0, {\"y\": \"z\", \"w\": []}]}");
	assert_cut(text, "x/0", "0", "{\"x\": [{\"y\": \"z\", \"w\": [true]}]}");
}

static void brackets_and_quotes_in_strings_are_text(void **state UNUSED)
{
	assert_cut("{\"a\": \"}],\\\"{[\", \"b\": \"\\\\\"}", "b", "\"b\": \"\\\\\"",
		   "{\"a\": \"}],\\\"{[\"}");
	assert_cut("{\"a\\u0062\": 1, \"c\": 2}", "ab", "\"a\\u0062\": 1", "{\"c\": 2}");
}

static void the_last_of_equal_keys_counts(void **state UNUSED)
{
	assert_cut("{\"a\": 1, \"a\": 2, \"b\": 3}", "a", "\"a\": 2", "{\"a\": 1, \"b\": 3}");
}

static void what_is_not_there_is_not_found(void **state UNUSED)
{
	static const char *const paths[] = { "b", "a/0/x", "a/1", "a/x", "a/0/0" };
	struct json_place place;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_false(find("{\"a\": [\"x\"]}", paths[i], &place));
	assert_false(find("[]", "0", &place));
	assert_false(find("7", "0", &place));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_goes_with_its_comma),
		cmocka_unit_test(a_path_leads_through_all_kinds),
		cmocka_unit_test(brackets_and_quotes_in_strings_are_text),
		cmocka_unit_test(the_last_of_equal_keys_counts),
		cmocka_unit_test(what_is_not_there_is_not_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
