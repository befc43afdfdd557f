/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/jsonc.h"

static void plain_text_has_the_length_and_the_lines_of_the_file(void **state UNUSED)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "\xef\xbb\xbf{}", "   {}" },
		{ "{/*a\n*/}", "{   \n  }" },
		{ "[1,//b\r\n]", "[1    \r\n]" },
		{ "[\"//\",\"/*\"]", "[\"//\",\"/*\"]" },
		{ "[\"\\\"//\", ]", "[\"\\\"//\"  ]" },
		{ "[1,/**/]", "[1     ]" },
		{ "[,]", "[,]" },
		{ "1/", "1/" },
		{ "\"a", "\"a" },
		{ "/*", "  " },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *plain = jsonc_plain(cases[i].text, strlen(cases[i].text));
		assert_string_equal(plain, cases[i].plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_has_the_length_and_the_lines_of_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
