/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "driver/context/ignore.h"

static void a_path_is_ignored_as_docker_does_it(void **state UNUSED)
{
	static const struct {
		const char *file, *path;
		bool is_ignored;
	} cases[] = {
		{ "", "a", false },
		{ "a", "a", true },
		{ "a", "ab", false },
		{ "a", "b/a", false },
		{ "a", "a/b/c", true },
		{ "/a/", "a", true },
		{ "./b/../a", "a", true },
		{ "# a\n\n  b  \r\n", "a", false },
		{ "# a\n\n  b  \r\n", "b", true },
		{ "\xef\xbb\xbf"
		  "a",
		  "a", true },
		{ "*.o", "x.o", true },
		{ "*.o", "x.c", false },
		{ "*.o", "d/x.o", false },
		{ "*/x.o", "d/x.o", true },
		{ "*/x.o", "d/e/x.o", false },
		{ "**/*.o", "x.o", true },
		{ "**/*.o", "d/e/x.o", true },
		{ "**/x", "ax", false },
		{ "d/**", "d", false },
		{ "d/**", "d/e/f", true },
		{ "d/**/x", "d/x", true },
		{ "d/**/x", "d/e/f/x", true },
		{ "d/**/x", "d/ex", false },
		{ "**", "any/thing", true },
		{ "?.c", "a.c", true },
		{ "?.c", "\xc3\xa9.c", true },
		{ "?.c", "ab.c", false },
		{ "a?b", "a/b", false },
		{ "[a-c]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[^a-c]x", "dx", true },
		{ "[^a]b", "/b", false },
		{ "[a", "[a", false },
		{ "[]a]x", "]x", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "*\n!keep", "keep", false },
		{ "*\n!keep", "drop", true },
		{ "!keep\n*", "keep", true },
		{ "d\n!d/keep", "d/keep", false },
		{ "d\n!d/keep", "d/drop", true },
		{ "e\n!e/keep\ne/keep/x", "e/keep/x", true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ignore struct ignore ignore = { 0 };
		ignore_parse(cases[i].file, &ignore);
		if (ignore_has(&ignore, cases[i].path) != cases[i].is_ignored)
			fail_msg("%zu: '%s' with '%s'", i, cases[i].path, cases[i].file);
	}
}

static void patterns_that_take_files_back_are_noted(void **state UNUSED)
{
	cleanup_ignore struct ignore plain = { 0 }, takes = { 0 };
	ignore_parse("a\nb", &plain);
	ignore_parse("a\n! b", &takes);
	assert_false(plain.takes_back);
	assert_true(takes.takes_back);
}

/* A matcher that tries everything would not end. */
static void no_pattern_takes_long(void **state UNUSED)
{
	char path[2001];
	cleanup_ignore struct ignore ignore = { 0 };
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ignore_parse("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ab", &ignore);
	assert_false(ignore_has(&ignore, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_ignored_as_docker_does_it),
		cmocka_unit_test(patterns_that_take_files_back_are_noted),
		cmocka_unit_test(no_pattern_takes_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
