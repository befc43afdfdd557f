/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strict JSON, and access that checks the type first.
 */
#include "unit/scratch.h"

#include "base/jsonwrite.h"

#include <string.h>

static int parse(const char *text, size_t length, struct json_object **ret, struct error *err)
{
	/* Without a byte after it, so that a sanitizer notices reads past the end. */
	cleanup_free char *exact = xcalloc(length, 1);
	memcpy(exact, text, length);
	return json_parse(exact, length, "what", ret, err);
}

static void json_is_one_strict_value(void **state UNUSED)
{
	static const char *const good[] = { "{}", "[1]", " {\"a\":1} \n", "1", "null", "\"x\"",
					    /* json-c 0.18, strict, refuses bytes above 0x7f */
					    "{\"\u00eb\":[\"Zo\u00eb \U0001f600\",true,false]}",
					    "[\",]\",\"// NULL\"]" };
	static const char *const bad[] = { "",         " ",      "{",          "{}x",
					   "{} {}",    "['a']",  "[1,]",       "{\"a\":1,}",
					   "\"\xff\"", "nul",    "{\"a\" 1}",  "01",
					   "[1, ]",    "[1,\n]", "[NULL]",     "True",
					   "[nan]",    "/**/1",  "[1//\n]",    "{\"a\":1 , }",
					   "\"\1\"",   "[,]",    "[-Infinity]" };
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cleanup_json struct json_object *object = NULL;
		assert_int_equal(parse(good[i], strlen(good[i]), &object, NULL), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		struct json_object *object = NULL;
		if (parse(bad[i], strlen(bad[i]), &object, &err) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_true(starts_with(err.message, "what:"));
		assert_null(object);
	}
}

static void json_errors_say_where(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct json_object *object = NULL;
	assert_int_equal(json_parse("{\n \"a\": x}", 10, "f.json", &object, &err), -1);
	assert_true(starts_with(err.message, "f.json:2:7: "));
}

static void json_that_is_too_deep_is_refused(void **state UNUSED)
{
	struct json_object *object = NULL;
	char text[20000];
	memset(text, '[', sizeof(text));
	assert_int_equal(parse(text, sizeof(text), &object, NULL), -1);
	assert_null(object);
}

static void json_getters_check_the_type(void **state UNUSED)
{
	cleanup_json struct json_object *object = NULL;
	const char *text =
		"{\"s\":\"x\",\"i\":7,\"b\":true,\"n\":null,\"t\":\"7\",\"z\":\"a\\u0000b\","
		"\"a\":[\"p\",1,\"q\"],\"big\":1e99}";
	cleanup_strvec struct strvec list = { 0 };
	assert_int_equal(parse(text, strlen(text), &object, NULL), 0);
	assert_string_equal(json_get_string(object, "s", NULL), "x");
	assert_null(json_get_string(object, "i", NULL));
	assert_null(json_get_string(object, "z", NULL));
	assert_null(json_get_string(object, "n", NULL));
	assert_null(json_get_string(NULL, "n", NULL));
	assert_int_equal(json_get_int(object, "i", -1), 7);
	assert_int_equal(json_get_int(object, "t", -1), -1);
	assert_int_equal(json_get_int(object, "big", -1), -1);
	assert_true(json_get_bool(object, "b", false));
	assert_false(json_get_bool(object, "i", false));
	assert_null(json_get_object(object, "a"));
	json_get_strings(object, "a", &list);
	assert_int_equal(list.count, 2);
	json_set_string(object, "s", "\xff");
	assert_string_equal(json_get_string(object, "s", NULL), "\\377");
}

static void what_was_set_is_what_is_there(void **state UNUSED)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_strvec struct strvec words = { 0 }, read = { 0 };
	strvec_push(&words, "a");
	strvec_push(&words, "b \xff");
	json_set_string(object, "s", "x");
	json_set_string(object, "null", NULL);
	json_set_int(object, "i", INT64_MIN);
	json_set_bool(object, "b", true);
	json_set_strings(object, "a", &words);
	json_set(object, "own", json_text("\xffz"));
	assert_string_equal(json_get_string(object, "s", NULL), "x");
	assert_true(json_object_object_get_ex(object, "null", NULL));
	assert_null(json_get_string(object, "null", NULL));
	assert_true(json_get_int(object, "i", 0) == INT64_MIN);
	assert_true(json_get_bool(object, "b", false));
	assert_string_equal(json_get_string(object, "own", NULL), "\\377z");
	assert_non_null(json_get_array(object, "a"));
	assert_null(json_get_array(object, "s"));
	json_get_strings(object, "a", &read);
	assert_int_equal(read.count, 2);
	assert_string_equal(read.items[1], "b \\377");
}

static void a_member_object_is_made_once(void **state UNUSED)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *made = json_make_object(object, "o");
	json_set_int(made, "i", 1);
	assert_ptr_equal(json_make_object(object, "o"), made);
	assert_ptr_equal(json_get_object(object, "o"), made);
	/* something else gives way */
	json_set_int(object, "n", 1);
	assert_non_null(json_make_object(object, "n"));
	assert_non_null(json_get_object(object, "n"));
}

static void what_is_printed_reads_as_the_same(void **state UNUSED)
{
	cleanup_json struct json_object *object = json_object_new_object(), *again = NULL;
	cleanup_json_writer struct json_writer writer = { 0 };
	json_set_string(object, "s", "a/b \033[31m \xc2\x9b \xe2\x80\xae");
	assert_false(ends_with(json_print(object), "\n"));
	json_write_value(&writer, NULL, object);
	const char *shown = writer.text.data;
	assert_null(strchr(shown, '\033'));
	assert_null(strstr(shown, "\xc2\x9b"));
	assert_null(strstr(shown, "\xe2\x80\xae"));
	assert_int_equal(parse(shown, strlen(shown), &again, NULL), 0);
	assert_string_equal(json_get_string(again, "s", NULL), json_get_string(object, "s", ""));
}

static const char *in_a_line(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void a_value_is_written_as_json_c_prints_it(void **state UNUSED)
{
	static const char text[] =
		"{\"deep\": [1, [2, [{\"a\": null}]], -0, 1.50, 3e7, \"\"],"
		" \"u\": \"\\u0000\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\\/ \u00e9\u20ac\","
		" \"\\tkey \\u00e9\": true, \"least\": -9223372036854775808}";
	cleanup_json struct json_object *object = NULL;
	cleanup_json_writer struct json_writer writer = { 0 }, line = { .is_line = true };
	assert_int_equal(parse(text, strlen(text), &object, NULL), 0);
	json_write_value(&writer, NULL, object);
	assert_string_equal(writer.text.data, json_print(object));
	json_write_value(&line, NULL, object);
	assert_string_equal(line.text.data, in_a_line(object));
}

static void what_is_empty_has_its_end_on_its_own_line(void **state UNUSED)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_json_writer struct json_writer writer = { 0 }, line = { .is_line = true };
	assert_int_equal(parse("[{},[]]", 7, &object, NULL), 0);
	json_write_value(&writer, NULL, object);
	assert_string_equal(writer.text.data, "[\n  {\n  },\n  [\n  ]\n]");
	json_write_value(&line, NULL, object);
	assert_string_equal(line.text.data, "[{},[]]");
}

static void members_are_written_as_they_are_set(void **state UNUSED)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_json_writer struct json_writer writer = { 0 };
	json_write_begin(&writer, NULL, '{');
	json_write_string(&writer, "plain", "a/b");
	json_write_string(&writer, "own", "\xff\"z\n");
	json_write_string(&writer, "null", NULL);
	json_write_int(&writer, "i", INT64_MIN);
	json_write_begin(&writer, "o", '{');
	json_write_bool(&writer, "b", true);
	json_write_end(&writer, '}');
	json_write_bool(&writer, "last", false);
	json_write_end(&writer, '}');
	json_set_string(object, "plain", "a/b");
	json_set_string(object, "own", "\xff\"z\n");
	json_set_string(object, "null", NULL);
	json_set_int(object, "i", INT64_MIN);
	json_set_bool(json_make_object(object, "o"), "b", true);
	json_set_bool(object, "last", false);
	assert_string_equal(writer.text.data, json_print(object));
}

static void sixty_four_levels_are_deep_enough(void **state UNUSED)
{
	char text[200] = "";
	for (size_t depth = 60; depth < 70; depth++) {
		cleanup_json struct json_object *object = NULL;
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		assert_int_equal(parse(text, 2 * depth, &object, NULL), depth <= 64 ? 0 : -1);
	}
}

static void a_condition_is_about_one_member(void **state UNUSED)
{
	static const char text[] =
		"{\"a\":{\"b\":\"c\",\"yes\":true,\"n\":7,\"null\":null},\"x=y\":\"z\"}";
	static const char *const holds[] = { "a.b=c", "a.yes=true", "a.n=7", "a.b!=d" };
	static const char *const fails[] = { "a.b=d", "a.b!=c",    "a.b.c=d", "a.c=c", "a.c!=c",
					     "b!=c",  "a.null!=x", "a.b",     "=c",    "" };
	cleanup_json struct json_object *object = NULL;
	assert_int_equal(parse(text, strlen(text), &object, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(holds); i++)
		assert_true(json_matches(object, holds[i]));
	for (size_t i = 0; i < ARRAY_SIZE(fails); i++)
		assert_false(json_matches(object, fails[i]));
	assert_false(json_matches(NULL, "a.b!=d"));
	assert_string_equal(json_object_get_string(json_at(object, "a.b")), "c");
	assert_null(json_at(object, "a.b.c"));
	assert_null(json_at(object, ""));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_condition_is_about_one_member),
		TEST(json_is_one_strict_value),
		TEST(json_errors_say_where),
		TEST(json_that_is_too_deep_is_refused),
		TEST(json_getters_check_the_type),
		TEST(what_was_set_is_what_is_there),
		TEST(a_member_object_is_made_once),
		TEST(what_is_printed_reads_as_the_same),
		TEST(a_value_is_written_as_json_c_prints_it),
		TEST(what_is_empty_has_its_end_on_its_own_line),
		TEST(members_are_written_as_they_are_set),
		TEST(sixty_four_levels_are_deep_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
