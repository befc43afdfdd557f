/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/linediff.h"

static void assert_diff(const char *before, const char *after, const char *expected)
{
	cleanup_strvec struct strvec lines = { 0 };
	linediff(before, after, &lines);
	cleanup_free char *is = strvec_join(&lines, "|");
	assert_string_equal(is, expected);
}

static void only_what_differs_is_said(void **state UNUSED)
{
	assert_diff("", "", "");
	assert_diff("a\nb\n", "a\nb\n", "");
	assert_diff("a\nb\nc\n", "a\nc\n", "-b");
	assert_diff("a\nc\n", "a\nb\nc\n", "+b");
	assert_diff("a\nb\nc", "a\nx\nc", "-b|+x");
	assert_diff("", "a\n", "+a");
	assert_diff("a\n\nb\n", "a\nb\n", "-");
	assert_diff("a\nb\nc\nx\n", "b\nx\ne\n", "-a|-c|+e");
}

static void a_long_text_is_replaced_as_a_whole(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	for (int i = 0; i <= LINEDIFF_MOST; i++)
		strbuf_addf(&text, "%d\n", i);
	linediff("x\n", strbuf_text(&text), &lines);
	assert_int_equal(lines.count, LINEDIFF_MOST + 2);
	assert_string_equal(lines.items[0], "-x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_differs_is_said),
		cmocka_unit_test(a_long_text_is_replaced_as_a_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
