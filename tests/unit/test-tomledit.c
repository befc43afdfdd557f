/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/tomledit.h"
#include "base/tomltext.h"

#include <string.h>

static int try_change(const char *text, const char *key, const char *literal, struct strbuf *ret,
		      struct error *err)
{
	cleanup_strvec struct strvec parts = { 0 };
	assert_int_equal(toml_split_key(key, &parts, NULL), 0);
	const struct toml_change change = { text, strlen(text), "c.toml", &parts, "in an editor" };
	return literal ? toml_set(&change, literal, ret, err) : toml_unset(&change, ret, err);
}

/* literal NULL: unset. */
static void assert_change(const char *text, const char *key, const char *literal,
			  const char *expected)
{
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_error struct error err = { 0 };
	if (try_change(text, key, literal, &result, &err) != 0)
		fail_msg("%s: %s", key, err.message ? err.message : "absent");
	assert_string_equal(strbuf_text(&result), expected);
}

static void assert_refused(const char *text, const char *key, const char *literal,
			   const char *message)
{
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(try_change(text, key, literal, &result, &err), -1);
	assert_string_equal(err.message, message);
	assert_int_equal(result.length, 0);
}

static void assert_no_line(const char *text, const char *key, const char *literal)
{
	cleanup_free char *message = xasprintf(
		"c.toml: %s has no line to itself, or can have none: change it in an editor", key);
	assert_refused(text, key, literal, message);
}

static void a_value_changes_where_it_is(void **state UNUSED)
{
	assert_change("# top\na = 1 # why\nb = 2\n", "a", "5", "# top\na = 5 # why\nb = 2\n");
	assert_change("[t]\n  a   =   \"x # y\"   # why\n", "t.a", "true",
		      "[t]\n  a   =   true   # why\n");
	assert_change("a = \"# = 1\" # = 2\n", "a", "3", "a = 3 # = 2\n");
	assert_change("a = \"\"\"\nb = 1\n\"\"\"\"\nb = 2\n", "b", "3",
		      "a = \"\"\"\nb = 1\n\"\"\"\"\nb = 3\n");
	assert_change("a = '''\n[t]\nb = 1'''\n[t]\nb = 2\n", "t.b", "3",
		      "a = '''\n[t]\nb = 1'''\n[t]\nb = 3\n");
	assert_change("a = 1979-05-27 07:32:00 # then\n", "a", "1", "a = 1 # then\n");
}

static void a_new_key_goes_to_its_table(void **state UNUSED)
{
	assert_change("", "a", "1", "a = 1\n");
	assert_change("", "t.a", "1", "[t]\na = 1\n");
	assert_change("[t]\nb = 2\n\n# next\n[u]\nc = 3\n", "t.a", "1",
		      "[t]\nb = 2\na = 1\n\n# next\n[u]\nc = 3\n");
	assert_change("[t] # table\n\n[u]\n", "t.a", "1", "[t] # table\na = 1\n\n[u]\n");
	assert_change("[t]\nb = 2\n", "u.v.a", "1", "[t]\nb = 2\n\n[u.v]\na = 1\n");
	assert_change("[t.u]\nb = 2\n", "t.a", "1", "[t.u]\nb = 2\n\n[t]\na = 1\n");
	assert_change("# mine\n\n# tables\n[t]\nb = 2\n", "a", "1",
		      "# mine\n\na = 1\n# tables\n[t]\nb = 2\n");
}

static void a_commented_key_shows_the_place(void **state UNUSED)
{
	assert_change("[t]\n# a = 0\n# b = 0\n\n[u]\n# a = 9\n", "t.a", "1",
		      "[t]\n# a = 0\na = 1\n# b = 0\n\n[u]\n# a = 9\n");
	/* Not inside of a text. */
	assert_change("[t]\nb = \"\"\"\n# a = 0\n\"\"\"\n", "t.a", "1",
		      "[t]\nb = \"\"\"\n# a = 0\n\"\"\"\na = 1\n");
}

static void dotted_keys_stay_dotted(void **state UNUSED)
{
	assert_change("t . \"b\" = 2\n", "t.b", "3", "t . \"b\" = 3\n");
	assert_change("[x]\nt.u.b = 2\n", "x.t.u.b", "1", "[x]\nt.u.b = 1\n");
	assert_change("t.b = 2 # b\nc = 3\n", "t.a", "1", "t.b = 2 # b\nc = 3\nt.a = 1\n");
	assert_no_line("[x]\nt.u.b = 2\n", "x.t.u.a", "1");
}

/* What is in a line with something else, or on several, is for an editor. */
static void a_key_without_a_line_to_itself_is_refused(void **state UNUSED)
{
	static const char *const several = "a = [\n  1, # one\n  2,\n] # end\nb = 2\n";
	static const char *const text = "b = 1\na = \"\"\"\nc = 1\n# k = 1\n\"\"\"\n";
	assert_no_line(several, "a", "[]");
	assert_no_line(several, "a", NULL);
	assert_no_line(text, "a", "1");
	assert_change(text, "k", "1", "b = 1\na = \"\"\"\nc = 1\n# k = 1\n\"\"\"\nk = 1\n");
	assert_no_line("t = { a = 1, b = 2 }\n", "t.a", "3");
	assert_no_line("t = { a = 1, b = 2 }\n", "t.a", NULL);
	assert_no_line("t = { a = 1, b = 2 }\n", "t.c", "3");
	assert_no_line("t = { a = 1 } # =# 2\n", "t.a", "3");
	assert_change("t = { a = 1 }\n", "t.a", NULL, "# t = { a = 1 }\n");
}

static void quoted_keys_are_the_same_keys(void **state UNUSED)
{
	assert_change("[groups.\"work/api\".limits]\nm = 1\n", "groups.work/api.limits.m", "2",
		      "[groups.\"work/api\".limits]\nm = 2\n");
	assert_change("[groups.\"\\u0077ork\"]\n\"m\" = 1\n", "groups.work.m", "2",
		      "[groups.\"\\u0077ork\"]\n\"m\" = 2\n");
	assert_change("[o]\n", "o.\"a.b[0]\"", "2", "[o]\n\"a.b[0]\" = 2\n");
	assert_change("", "groups.\"a]\\n[b\".m", "2", "[groups.\"a]\\u000a[b\"]\nm = 2\n");
	assert_change("['a # b']\nc = 1\n", "'a # b'.c", "2", "['a # b']\nc = 2\n");
}

static void line_ends_stay_as_they_are(void **state UNUSED)
{
	assert_change("[t]\r\nb = 2 # c\r\n\r\n[u]\r\n", "t.a", "1",
		      "[t]\r\nb = 2 # c\r\na = 1\r\n\r\n[u]\r\n");
	assert_change("[t]\r\nb = 2 # c\r\n", "t.b", "1", "[t]\r\nb = 1 # c\r\n");
	assert_change("[t]\r\nb = 2\r\n", "u.a", "1", "[t]\r\nb = 2\r\n\r\n[u]\r\na = 1\r\n");
	assert_change("b = 2", "a", "1", "b = 2\na = 1\n");
	assert_change("[t]", "t.a", "1", "[t]\na = 1\n");
	assert_change("# c", "a", "1", "# c\na = 1\n");
	assert_change("\xef\xbb\xbf"
		      "b = 2\n",
		      "b", "1",
		      "\xef\xbb\xbf"
		      "b = 1\n");
}

static void what_is_unset_becomes_a_comment(void **state UNUSED)
{
	cleanup_strbuf struct strbuf result = { 0 };
	assert_change("[t]\na = 1 # why\nb = 2\n", "t.a", NULL, "[t]\n# a = 1 # why\nb = 2\n");
	assert_int_equal(try_change("# a = 1\n", "a", NULL, &result, NULL), TOML_KEY_ABSENT);
}

/* With its last key a table that has no header vanishes, and one that has a header stays. */
static void the_only_key_of_a_table_can_be_unset(void **state UNUSED)
{
	assert_change("t.a = 1\n", "t.a", NULL, "# t.a = 1\n");
	assert_change("t.u.a = 1\nb = 2\n", "t.u.a", NULL, "# t.u.a = 1\nb = 2\n");
	assert_change("[x]\nt.a = 1\n", "x.t.a", NULL, "[x]\n# t.a = 1\n");
	assert_change("[t]\na = 1\n", "t.a", NULL, "[t]\n# a = 1\n");
	assert_change("t.a = 1\n[u]\n", "t.a", NULL, "# t.a = 1\n[u]\n");
}

/* name NULL: remove it. */
static int try_table(const char *text, const char *key, const char *name, struct strbuf *ret,
		     struct error *err)
{
	cleanup_strvec struct strvec parts = { 0 };
	assert_int_equal(toml_split_key(key, &parts, NULL), 0);
	const struct toml_change change = { text, strlen(text), "c.toml", &parts, "in an editor" };
	return name ? toml_rename_table(&change, name, ret, err)
		    : toml_remove_table(&change, ret, err);
}

static void assert_table(const char *text, const char *key, const char *name, const char *expected)
{
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_error struct error err = { 0 };
	if (try_table(text, key, name, &result, &err) != 0)
		fail_msg("%s: %s", key, err.message ? err.message : "absent");
	assert_string_equal(strbuf_text(&result), expected);
}

static void a_table_is_removed_with_its_keys(void **state UNUSED)
{
	assert_table("[h.a]\n", "h.a", NULL, "");
	assert_table("x = 1\n\n[h.a]\ns = 1 # s\n\n# t = 2\nu = [\n1,\n]\n\n# b\n[h.b]\n", "h.a",
		     NULL, "x = 1\n\n# b\n[h.b]\n");
	assert_table("# mine\n[h.a]\ns = 1\n# end\n", "h.a", NULL, "# mine\n# end\n");
	assert_table("[h.a]\n[h.b]\n[h.a.c]\nx = 1\n[h.ab]\n", "h.a", NULL, "[h.b]\n[h.ab]\n");
	assert_table("[h.b]\r\ns = 1\r\n\r\n[h.a]\r\ns = 1\r\n\r\n[h.c]\r\n", "h.a", NULL,
		     "[h.b]\r\ns = 1\r\n\r\n[h.c]\r\n");
	assert_table("[h]\na.s = 1\na.t = 2\nb.s = 1\n", "h.a", NULL, "[h]\nb.s = 1\n");
	assert_table("h.a = { s = 1 } # why\n[t]\n", "h.a", NULL, "[t]\n");
	assert_table("[h.\"a\"]\ns = 1\n[[x]]\ns = 1", "h.a", NULL, "[[x]]\ns = 1");
	/* Not inside of a text. */
	assert_table("t = \"\"\"\n[h.a]\n\"\"\"\n[h.b]\n[h.a]\n", "h.b", NULL,
		     "t = \"\"\"\n[h.a]\n\"\"\"\n[h.a]\n");
}

static void a_table_is_renamed_in_its_header(void **state UNUSED)
{
	assert_table("# a\n[ h.a ] # [a]\ns = 1\n[h.b]\n", "h.a", "c",
		     "# a\n[h.c] # [a]\ns = 1\n[h.b]\n");
	assert_table("[h.\"a]\"] # a\ns = 1", "h.\"a]\"", "c", "[h.c] # a\ns = 1");
	assert_table("[h.a]\n", "h.a", "b c", "[h.\"b c\"]\n");
}

static void a_table_that_shares_its_lines_is_refused(void **state UNUSED)
{
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(try_table("h = { a = {}, b = {} }\n", "h.a", NULL, &result, &err), -1);
	assert_string_equal(err.message, "c.toml: h.a has no line to itself, or can have none: "
					 "change it in an editor");
	error_clear(&err);
	assert_int_equal(try_table("[h]\na.s = 1\n", "h.a", "b", &result, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(try_table("[h.b]\n", "h.a", NULL, &result, NULL), TOML_KEY_ABSENT);
	assert_int_equal(try_table("h = 1\n", "h.a", NULL, &result, NULL), TOML_KEY_ABSENT);
	assert_int_equal(try_table("h.a = 1\n", "h.a", NULL, &result, NULL), TOML_KEY_ABSENT);
}

static void arrays_of_tables_are_left_alone(void **state UNUSED)
{
	assert_change("[[x]]\na = 1\n[[x]]\na = 2\n", "b", "3",
		      "b = 3\n[[x]]\na = 1\n[[x]]\na = 2\n");
	assert_change("[[x]]\na = 1\n", "t.a", "3", "[[x]]\na = 1\n\n[t]\na = 3\n");
	assert_refused("[[x]]\na = 1\n", "x.a", "3",
		       "c.toml:1:3: x is a value here, and not a table");
}

static void what_cannot_be_is_refused(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_strbuf struct strbuf result = { 0 };
	assert_refused("a = 1\n", "a.b", "3", "c.toml:1:1: a is a value here, and not a table");
	assert_refused("[a]\nb = 1\n", "a", "3", "c.toml: a is a table: name one of its keys");
	assert_refused("", "a", "1\nb = 2", "'1\\nb = 2' is not one value in TOML");
	assert_refused("", "a", "1 # c", "'1 # c' is not one value in TOML");
	assert_refused("", "a", "x", "'x' is not one value in TOML");
	/* The same table or key twice is a mistake of the file. */
	assert_int_equal(try_change("[t]\na = 1\n[t]\nb = 2\n", "t.a", "2", &result, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_true(starts_with(err.message, "c.toml:3:"));
	error_clear(&err);
	assert_int_equal(try_change("a = 1\na = 2\n", "a", "2", &result, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
}

static void a_key_has_parts(void **state UNUSED)
{
	static const char *const bad[] = { "", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "'a'." };
	cleanup_strvec struct strvec parts = { 0 };
	assert_int_equal(toml_split_key("a.\"b.\\\"c\".d/e.'f\\'", &parts, NULL), 0);
	assert_int_equal(parts.count, 4);
	assert_string_equal(parts.items[1], "b.\"c");
	assert_string_equal(parts.items[2], "d/e");
	assert_string_equal(parts.items[3], "f\\");
	cleanup_free char *joined = toml_join_key(&parts, 1);
	assert_string_equal(joined, "\"b.\\\"c\".\"d/e\".\"f\\\\\"");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_strvec struct strvec none = { 0 };
		cleanup_error struct error err = { 0 };
		assert_int_equal(toml_split_key(bad[i], &none, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

static void a_literal_is_read_back(void **state UNUSED)
{
	static const char *const values[] = { "\"a\\\"\\u0009\\\\\"", "[\"x\", 1, true, []]",
					      "{ a = 1, \"b c\" = { } }", "-5", "1.5" };
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		cleanup_json struct json_object *value = NULL, *again = NULL;
		assert_true(toml_parse_literal(values[i], &value));
		cleanup_free char *text = toml_literal(value);
		assert_true(toml_parse_literal(text, &again));
		assert_true(json_object_equal(value, again));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_changes_where_it_is),
		cmocka_unit_test(a_new_key_goes_to_its_table),
		cmocka_unit_test(a_commented_key_shows_the_place),
		cmocka_unit_test(dotted_keys_stay_dotted),
		cmocka_unit_test(quoted_keys_are_the_same_keys),
		cmocka_unit_test(a_key_without_a_line_to_itself_is_refused),
		cmocka_unit_test(line_ends_stay_as_they_are),
		cmocka_unit_test(what_is_unset_becomes_a_comment),
		cmocka_unit_test(the_only_key_of_a_table_can_be_unset),
		cmocka_unit_test(a_table_is_removed_with_its_keys),
		cmocka_unit_test(a_table_is_renamed_in_its_header),
		cmocka_unit_test(a_table_that_shares_its_lines_is_refused),
		cmocka_unit_test(arrays_of_tables_are_left_alone),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_key_has_parts),
		cmocka_unit_test(a_literal_is_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
