/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/nearest.h"

static const char *const titles[] = { "api", "apk", "web", "proj1", "proj2", "a\nb" };

static void check(const char *typed, size_t most, const char *expected)
{
	cleanup_nearest struct nearest nearest = nearest_begin(typed);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		nearest_consider(&nearest, titles[i], titles[i]);
	cleanup_free char *text = nearest_text(&nearest, most);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void a_typing_error_is_forgiven(void **state UNUSED)
{
	check("wbe", 3, "'web'");
	check("apj", 3, "'api' or 'apk'");
	check("docs", 3, NULL);
}

static void the_beginning_of_a_word_is_near(void **state UNUSED)
{
	check("proj", 3, "'proj1' or 'proj2'");
	check("we", 3, "'web'");
}

static void too_many_are_no_help(void **state UNUSED)
{
	check("proj", 1, NULL);
}

static void the_nearest_ones_alone_are_meant(void **state UNUSED)
{
	check("proj11", 3, "'proj1'");
}

static void a_terminal_can_show_them(void **state UNUSED)
{
	check("a\nc", 3, "'a\\nb'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_typing_error_is_forgiven),
		cmocka_unit_test(the_beginning_of_a_word_is_near),
		cmocka_unit_test(too_many_are_no_help),
		cmocka_unit_test(the_nearest_ones_alone_are_meant),
		cmocka_unit_test(a_terminal_can_show_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
