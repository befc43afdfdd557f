/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/base64.h"

static const struct {
	const char *bytes, *text;
	size_t length;
} cases[] = {
	{ "", "", 0 },         { "f", "Zg==", 1 },          { "fi", "Zmk=", 2 },
	{ "foo", "Zm9v", 3 },  { "foobar", "Zm9vYmFy", 6 }, { "\xff\xfe\xfd", "//79", 3 },
	{ "\0\0", "AAA=", 2 },
};

static void bytes_become_the_text_of_the_standard_and_back(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_strbuf struct strbuf text = { 0 }, bytes = { 0 };
		base64_encode(&text, cases[i].bytes, cases[i].length);
		assert_string_equal(strbuf_text(&text), cases[i].text);
		const size_t read = base64_decode(&bytes, cases[i].text);
		assert_int_equal(read, strcspn(cases[i].text, "="));
		assert_int_equal(bytes.length, cases[i].length);
		if (bytes.length)
			assert_memory_equal(bytes.data, cases[i].bytes, bytes.length);
	}
}

static void it_reads_up_to_what_is_no_digit(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	assert_int_equal(base64_decode(&bytes, "Zm9v\nZm9v"), 4);
	assert_string_equal(strbuf_text(&bytes), "foo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_the_text_of_the_standard_and_back),
		cmocka_unit_test(it_reads_up_to_what_is_no_digit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
