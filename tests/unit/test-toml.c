/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/toml.h"

#include <string.h>

static struct json_object *parse(const char *text)
{
	struct json_object *root = NULL;
	struct error err = { 0 };
	int r = toml_parse(text, strlen(text), "test.toml", &root, &err);
	if (r != 0)
		fail_msg("%s", err.message);
	return root;
}

static void assert_refused_length(const char *text, size_t length, const char *message)
{
	struct json_object *root = (struct json_object *)(uintptr_t)text;
	cleanup_error struct error err = { 0 };
	assert_int_equal(toml_parse(text, length, "test.toml", &root, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_ptr_equal(root, text);
	if (strncmp(err.message, message, strlen(message)) != 0)
		fail_msg("\"%s\" does not start with \"%s\"", err.message, message);
}

static void assert_refused(const char *text, const char *message)
{
	assert_refused_length(text, strlen(text), message);
}

/* Of one text, and of one that was parsed before. */
static void assert_position(const char *text, const char *path, unsigned line, unsigned column)
{
	unsigned got_line = 0, got_column = 0;
	cleanup_json struct json_object *root = NULL;
	struct toml_places *places = NULL;
	toml_position(text, strlen(text), path, &got_line, &got_column);
	assert_int_equal(got_line, line);
	assert_int_equal(got_column, column);
	if (toml_parse_placed(text, strlen(text), "", &root, &places, NULL) < 0)
		return;
	toml_place(places, path, &got_line, &got_column);
	toml_places_free(places);
	assert_int_equal(got_line, line);
	assert_int_equal(got_column, column);
}

static void every_type_has_its_json_type(void **state)
{
	(void)state;
	cleanup_json struct json_object *root = parse("text = 'plain \\'\n"
						      "number = -9223372036854775808\n"
						      "hex = 0xff\n"
						      "fraction = 1.5\n"
						      "yes = true\n"
						      "list = ['a', \"b\\u00e9\"]\n");
	assert_string_equal(json_get_string(root, "text", NULL), "plain \\");
	assert_true(json_get_int(root, "number", 0) == INT64_MIN);
	assert_int_equal(json_get_int(root, "hex", 0), 255);
	struct json_object *fraction;
	assert_true(json_object_object_get_ex(root, "fraction", &fraction));
	assert_int_equal(json_object_get_type(fraction), json_type_double);
	assert_true(json_object_get_double(fraction) == 1.5);
	assert_true(json_get_bool(root, "yes", false));
	cleanup_strvec struct strvec list = { 0 };
	json_get_strings(root, "list", &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[1], "b\u00e9");
}

static void tables_nest_however_they_are_written(void **state)
{
	(void)state;
	cleanup_json struct json_object *root = parse(
		"a.b.c = 1\n[d.e]\nf = 2\n[[list]]\nx = 3\n[[list]]\nx = 4\n[g]\nh = { i = 5 }\n");
	struct json_object *b = json_get_object(json_get_object(root, "a"), "b");
	assert_int_equal(json_get_int(b, "c", 0), 1);
	struct json_object *e = json_get_object(json_get_object(root, "d"), "e");
	assert_int_equal(json_get_int(e, "f", 0), 2);
	struct json_object *list = json_get_array(root, "list");
	assert_int_equal(json_object_array_length(list), 2);
	assert_int_equal(json_get_int(json_object_array_get_idx(list, 1), "x", 0), 4);
	struct json_object *h = json_get_object(json_get_object(root, "g"), "h");
	assert_int_equal(json_get_int(h, "i", 0), 5);
}

static void dates_are_strings(void **state)
{
	(void)state;
	cleanup_json struct json_object *root = parse("date = 1979-05-27\n"
						      "time = 07:32:00.5\n"
						      "local = 1979-05-27T07:32:00\n"
						      "utc = 1979-05-27T07:32:00Z\n"
						      "west = 1979-05-27T00:32:00-07:30\n");
	assert_string_equal(json_get_string(root, "date", NULL), "1979-05-27");
	assert_string_equal(json_get_string(root, "time", NULL), "07:32:00.500000000");
	assert_string_equal(json_get_string(root, "local", NULL), "1979-05-27T07:32:00");
	assert_string_equal(json_get_string(root, "utc", NULL), "1979-05-27T07:32:00Z");
	assert_string_equal(json_get_string(root, "west", NULL), "1979-05-27T00:32:00-07:30");
}

static void an_empty_document_is_an_empty_object(void **state)
{
	(void)state;
	cleanup_json struct json_object *root = parse("");
	assert_int_equal(json_object_object_length(root), 0);
	struct json_object *other = NULL;
	assert_int_equal(toml_parse(NULL, 0, "test.toml", &other, NULL), 0);
	json_object_put(other);
}

static void a_syntax_error_is_told_with_its_position(void **state)
{
	(void)state;
	assert_refused("good = 1\nbad = = 2\n", "test.toml:2:7: ");
	assert_refused("[table\n", "test.toml:1:");
	assert_refused("text = \"no end\n", "test.toml:1:15: ");
	assert_refused("same = 1\nsame = 2\n", "test.toml:2:");
	assert_refused("text = 'bad \xff utf'\n", "test.toml:1:");
	assert_refused_length("a = 'x\0y'", 9, "test.toml:1:");
	/* toml++'s own assertions fail on these. */
	assert_refused("a = 1\nb = [}\n", "test.toml:2:6: ");
	assert_refused("[[[1]]]\n", "test.toml:1:");
}

static void a_message_holds_no_control_characters(void **state)
{
	(void)state;
	struct json_object *root;
	cleanup_error struct error err = { 0 };
	const char *text = "a = \x1b[31m\n";
	assert_int_equal(toml_parse(text, strlen(text), "test.toml", &root, &err), -1);
	for (const char *s = err.message; *s; s++)
		assert_true((unsigned char)*s >= 0x20);
}

static void nesting_is_bounded(void **state)
{
	(void)state;
	enum { DEPTH = 100 * 1000 };
	cleanup_strbuf struct strbuf keys = { 0 }, arrays = { 0 }, header = { 0 };
	strbuf_adds(&header, "[");
	strbuf_adds(&arrays, "a = ");
	for (int i = 0; i < DEPTH; i++) {
		strbuf_adds(&keys, "a.");
		strbuf_adds(&header, "a.");
		strbuf_adds(&arrays, "[");
	}
	strbuf_adds(&keys, "a = 1\n");
	strbuf_adds(&header, "a]\n");
	assert_refused_length(keys.data, keys.length, "test.toml:1:128: ");
	assert_refused_length(header.data, header.length, "test.toml:1:129: ");
	assert_refused_length(arrays.data, arrays.length, "test.toml:1:");
	assert_position(keys.data, "a.a", 1, 1);
}

static void many_dots_outside_of_keys_are_fine(void **state)
{
	(void)state;
	cleanup_strbuf struct strbuf text = { 0 };
	for (int i = 0; i < 100; i++)
		strbuf_adds(&text, i ? "." : "# ");
	strbuf_adds(&text, "\na = '");
	for (int i = 0; i < 100; i++)
		strbuf_adds(&text, ".");
	strbuf_adds(&text, "'\nb = [");
	for (int i = 0; i < 100; i++)
		strbuf_adds(&text, "1.5, ");
	strbuf_adds(&text, "]\n");
	json_object_put(parse(strbuf_text(&text)));
}

static void a_nul_in_a_key_does_not_shorten_it(void **state)
{
	(void)state;
	cleanup_json struct json_object *root = parse("\"a\\u0000b\" = 1\na = 2\n");
	assert_int_equal(json_get_int(root, "a\\000b", 0), 1);
	assert_int_equal(json_get_int(root, "a", 0), 2);
	assert_position("x = 1\n\"a\\u0000b\" = 1\n", "a\\000b", 2, 1);
}

static void a_key_is_found_however_it_is_written(void **state)
{
	(void)state;
	const char *text = "top = 1\n"
			   "[tmux]\n"
			   "  mouse = true\n"
			   "options.status = 'on'\n"
			   "inline = { deep = 1 }\n"
			   "'a.b' = 2\n"
			   "list = [\n"
			   "  'x',\n"
			   "  { y = 1 },\n"
			   "]\n";
	assert_position(text, "top", 1, 1);
	assert_position(text, "tmux", 2, 2);
	assert_position(text, "tmux.mouse", 3, 3);
	assert_position(text, "tmux.options.status", 4, 9);
	assert_position(text, "tmux.inline.deep", 5, 12);
	assert_position(text, "tmux.a.b", 6, 1);
	assert_position(text, "tmux.list.0", 8, 3);
	assert_position(text, "tmux.list.1.y", 9, 5);
}

static void what_is_not_there_stands_at_the_start(void **state)
{
	(void)state;
	const char *text = "a = 1\n[b]\nlist = ['x']\n";
	assert_position(text, "c", 1, 1);
	assert_position(text, "a.c", 1, 1);
	assert_position(text, "b.list.1", 1, 1);
	assert_position(text, "b.list.x", 1, 1);
	assert_position(text, "b.list.99999999999999999999", 1, 1);
	assert_position(text, "", 1, 1);
	assert_position("not toml", "a", 1, 1);
	/* Keys with dots, and one with a NUL, as the JSON side knows it. */
	assert_position("[\"a.b\"]\nx = 1\n[a]\nb.y = 1\n", "a.b.x", 2, 1);
	assert_position("[\"a.b\"]\nx = 1\n[a]\nb.y = 1\n", "a.b.y", 4, 3);
	assert_position("a = 1\n\"b\\u0000c\" = 2\n", "b\\000c", 2, 1);
}

/* begin, then a key with so many parts that its tables would fill the stack. */
static char *with_long_key(const char *begin, size_t parts)
{
	struct strbuf text = { 0 };
	strbuf_adds(&text, begin);
	for (size_t i = 0; i < parts; i++)
		strbuf_adds(&text, ".a");
	strbuf_adds(&text, " = 1\n");
	return strbuf_take(&text);
}

static void a_key_of_very_many_parts_is_refused_wherever_it_stands(void **state)
{
	(void)state;
	const char *const begins[] = {
		"a",
		"\"\\\"\"", /* after an escaped quote */
		"'\"'",
		"# \" '\na",                /* after quotes that open nothing */
		"b = \"\"\"\nx\"\"\"\"\na", /* after a long string with a quote at its end */
		"b = '''\n'\n'''\na",
		"b = \"#\"\na",
	};
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		cleanup_free char *text = with_long_key(begins[i], 300000);
		assert_refused(text, "test.toml:");
		/* Few of them are fine, and those inside a text do not count. */
		cleanup_free char *few = with_long_key(begins[i], 20);
		json_object_put(parse(few));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_has_its_json_type),
		cmocka_unit_test(tables_nest_however_they_are_written),
		cmocka_unit_test(dates_are_strings),
		cmocka_unit_test(an_empty_document_is_an_empty_object),
		cmocka_unit_test(a_syntax_error_is_told_with_its_position),
		cmocka_unit_test(a_message_holds_no_control_characters),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(many_dots_outside_of_keys_are_fine),
		cmocka_unit_test(a_nul_in_a_key_does_not_shorten_it),
		cmocka_unit_test(a_key_is_found_however_it_is_written),
		cmocka_unit_test(what_is_not_there_stands_at_the_start),
		cmocka_unit_test(a_key_of_very_many_parts_is_refused_wherever_it_stands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
