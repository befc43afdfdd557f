/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A TOML document fills a struct by a table of keys, and says where it does not.
 */
#include "unit/test.h"

#include "base/tomlmap.h"

#include <string.h>

enum size { SMALL, MIDDLE, LARGE };

struct target {
	enum size kind;
	bool loud;
	int64_t size;
	char *name;
	struct strvec words;
};

static const char *const kinds[] = { "middle", "large", NULL };

static const struct toml_key keys[] = {
	{ .path = "kind",
	  .store = toml_store_word,
	  .offset = offsetof(struct target, kind),
	  .min = MIDDLE,
	  .words = kinds },
	{ .path = "loud", .store = toml_store_bool, .offset = offsetof(struct target, loud) },
	{ .path = "box.size",
	  .store = toml_store_int,
	  .offset = offsetof(struct target, size),
	  .min = 1,
	  .max = 9 },
	{ .path = "box.name", .store = toml_store_string, .offset = offsetof(struct target, name) },
	{ .path = "words", .store = toml_store_strings, .offset = offsetof(struct target, words) },
};

static void target_clear(struct target *target)
{
	free(target->name);
	strvec_clear(&target->words);
}

static int load(const char *text, size_t length, struct target *ret, struct error *err)
{
	cleanup_toml_document struct toml_document document = { 0 };
	if (toml_document_parse(text, length, "x.toml", &document, err) < 0)
		return -1;
	return toml_document_store(&document, keys, ARRAY_SIZE(keys), ret, err);
}

static void assert_refused(const char *text, const char *message)
{
	CLEANUP(target_clear) struct target target = { 0 };
	cleanup_error struct error err = { 0 };
	if (load(text, strlen(text), &target, &err) != -1)
		fail_msg("not refused: %s", text);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_string_equal(err.message, message);
}

static void each_value_goes_to_its_field(void **state UNUSED)
{
	CLEANUP(target_clear) struct target target = { .size = 5 };
	static const char text[] =
		"loud = true\nwords = ['a', 'b c']\n[box]\nsize = 9\nname = 'n'\n";
	assert_int_equal(load(text, strlen(text), &target, NULL), 0);
	assert_true(target.loud);
	assert_int_equal(target.size, 9);
	assert_string_equal(target.name, "n");
	assert_int_equal(target.words.count, 2);
	assert_string_equal(target.words.items[1], "b c");
}

static void what_is_not_in_the_document_stays(void **state UNUSED)
{
	CLEANUP(target_clear) struct target target = { .size = 5, .loud = true };
	assert_int_equal(load("", 0, &target, NULL), 0);
	assert_int_equal(target.size, 5);
	assert_true(target.loud);
	assert_null(target.name);
}

static void an_unknown_key_is_refused_with_the_likely_one(void **state UNUSED)
{
	assert_refused("lout = true\n", "x.toml:1:1: unknown key \"lout\": did you mean \"loud\"?");
	assert_refused("[box]\nsice = 1\n",
		       "x.toml:2:1: unknown key \"box.sice\": did you mean \"box.size\"?");
	/* the same name in another table */
	assert_refused("[other]\nsize = 1\n", "x.toml:1:2: unknown key \"other\"");
	assert_refused("size = 1\n",
		       "x.toml:1:1: unknown key \"size\": did you mean \"box.size\"?");
	assert_refused("qqqqqqqq = 1\n", "x.toml:1:1: unknown key \"qqqqqqqq\"");
}

static void a_value_of_another_type_is_refused(void **state UNUSED)
{
	assert_refused("loud = 1\n", "x.toml:1:1: loud must be true or false, not a whole number");
	assert_refused("[box]\nsize = 1.5\n",
		       "x.toml:2:1: box.size must be a whole number, not a number with a fraction");
	assert_refused("[box]\nname = []\n", "x.toml:2:1: box.name must be a string, not an array");
	assert_refused("words = 'a'\n",
		       "x.toml:1:1: words must be an array of strings, not a string");
	assert_refused("box = true\n", "x.toml:1:1: box must be a table, not true or false");
	assert_refused("[loud]\n", "x.toml:1:2: loud must be true or false, not a table");
}

static void a_number_stays_in_its_range(void **state UNUSED)
{
	assert_refused("[box]\nsize = 0\n", "x.toml:2:1: box.size must be from 1 to 9, not 0");
	assert_refused("[box]\nsize = 10\n", "x.toml:2:1: box.size must be from 1 to 9, not 10");
}

static void a_word_is_one_of_those_it_may_be(void **state UNUSED)
{
	CLEANUP(target_clear) struct target target = { 0 };
	static const char text[] = "kind = 'large'\n";
	assert_int_equal(load(text, strlen(text), &target, NULL), 0);
	assert_int_equal(target.kind, LARGE);
	assert_refused("kind = 'small'\n",
		       "x.toml:1:1: kind must be \"middle\" or \"large\", not \"small\"");
	assert_refused("kind = 1\n", "x.toml:1:1: kind must be a string, not a whole number");
}

static void a_string_holds_no_nul(void **state UNUSED)
{
	assert_refused("[box]\nname = \"a\\u0000b\"\n",
		       "x.toml:2:1: box.name must not contain a NUL character");
	CLEANUP(target_clear) struct target target = { 0 };
	cleanup_error struct error err = { 0 };
	static const char text[] = "words = ['a', \"b\\u0000\"]\n";
	assert_int_equal(load(text, strlen(text), &target, &err), -1);
	assert_non_null(strstr(err.message, "words.1 must not contain a NUL character"));
}

static void a_key_in_quotes_with_a_dot_is_no_table(void **state UNUSED)
{
	CLEANUP(target_clear) struct target target = { 0 };
	cleanup_error struct error err = { 0 };
	static const char text[] = "\"box.size\" = 1\n";
	assert_int_equal(load(text, strlen(text), &target, &err), -1);
	assert_non_null(strstr(err.message, "write box.size without quotes"));
	assert_int_equal(target.size, 0);
}

static void a_document_knows_its_own_keys(void **state UNUSED)
{
	cleanup_toml_document struct toml_document document = { 0 };
	static const char text[] = "loud = false\n[box]\nsize = 1\n";
	assert_int_equal(toml_document_parse(text, strlen(text), "x", &document, NULL), 0);
	assert_true(toml_document_has(&document, "loud"));
	assert_true(toml_document_has(&document, "box"));
	assert_true(toml_document_has(&document, "box.size"));
	assert_false(toml_document_has(&document, "box.name"));
	assert_false(toml_document_has(&document, "loud.size"));
	assert_false(toml_document_has(&document, "size"));
}

static void what_is_no_toml_says_where(void **state UNUSED)
{
	cleanup_toml_document struct toml_document document = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(toml_document_parse("a = 1\nb =\n", 10, "x", &document, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_true(starts_with(err.message, "x:2:"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_goes_to_its_field),
		cmocka_unit_test(what_is_not_in_the_document_stays),
		cmocka_unit_test(an_unknown_key_is_refused_with_the_likely_one),
		cmocka_unit_test(a_value_of_another_type_is_refused),
		cmocka_unit_test(a_number_stays_in_its_range),
		cmocka_unit_test(a_word_is_one_of_those_it_may_be),
		cmocka_unit_test(a_string_holds_no_nul),
		cmocka_unit_test(a_key_in_quotes_with_a_dot_is_no_table),
		cmocka_unit_test(a_document_knows_its_own_keys),
		cmocka_unit_test(what_is_no_toml_says_where),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
