/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/macro.h"
#include "model/keys/key.h"

static const struct {
	key_code key;
	const char *text;
} keys[] = {
	{ KEY_CODE_UP, "Up" },
	{ KEY_CODE_PAGE_DOWN, "PgDn" },
	{ KEY_CODE_ENTER, "Enter" },
	{ KEY_CODE_TAB, "Tab" },
	{ ' ', "Space" },
	{ 'L' & KEY_CODE_CTRL, "Ctrl-L" },
	{ KEY_CODE_F1, "F1" },
	{ KEY_CODE_LAST, "F12" },
	{ 'n', "n" },
	{ '/', "/" },
	{ 0xE9, "é" },
	{ 0x65E5, "日" },
	{ 0x1F600, "😀" },
};

static void a_key_reads_as_it_is_written(void **state UNUSED)
{
	char text[KEY_TEXT_SIZE];
	key_code key;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_string_equal(key_text(keys[i].key, text), keys[i].text);
		key = 0;
		assert_true(key_parse(keys[i].text, &key));
		assert_int_equal(key, keys[i].key);
	}
}

static void words_are_read_in_any_case(void **state UNUSED)
{
	key_code key = 0;
	assert_true(key_parse("enter", &key));
	assert_int_equal(key, KEY_CODE_ENTER);
	assert_true(key_parse("ctrl-l", &key));
	assert_int_equal(key, 'L' & KEY_CODE_CTRL);
}

/* A terminal sends the same byte for both, and term_key() says the name of the key. */
static void a_key_with_a_name_has_no_other(void **state UNUSED)
{
	static const struct {
		const char *text;
		key_code key;
	} cases[] = {
		{ "Ctrl-H", KEY_CODE_BACKSPACE }, { "Ctrl-I", KEY_CODE_TAB },
		{ "Ctrl-J", KEY_CODE_ENTER },     { "Ctrl-M", KEY_CODE_ENTER },
		{ "ctrl-j", KEY_CODE_ENTER },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		key_code key = 0;
		assert_true(key_parse(cases[i].text, &key));
		assert_int_equal(key, cases[i].key);
	}
}

static void what_is_no_key_is_refused(void **state UNUSED)
{
	static const char *const bad[] = { "",     "nn",  "Ctrl-", "Ctrl-1", "Ctrl-LL",
					   "F0",   "F13", "F1x",   "\x01",   "\x7f",
					   "\xff", "éé",  "Entre" };
	key_code key = 'x';
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(key_parse(bad[i], &key));
	assert_int_equal(key, 'x');
}

static void a_typed_key_has_several_forms(void **state UNUSED)
{
	static const char *const forms[] = {
		"\x11",        "ab\x11", "\033[27;5;113~", "\033[113;5u", "\033[A\033[27;6;81~",
		"\033[113;69u"
	};
	static const char *const others[] = { "q",           "\033[27;5;99~", "\033[113u",
					      "\033[113;2u", "\033[113;5~",   "\033[27;5;113",
					      "\033[17;5u",  "[27;5;113~" };
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		assert_true(key_is_typed(forms[i], strlen(forms[i]), 'Q' & KEY_CODE_CTRL));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(key_is_typed(others[i], strlen(others[i]), 'Q' & KEY_CODE_CTRL));
	assert_true(key_is_typed("\0\x03", 2, 'C' & KEY_CODE_CTRL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_reads_as_it_is_written),
		cmocka_unit_test(words_are_read_in_any_case),
		cmocka_unit_test(a_key_with_a_name_has_no_other),
		cmocka_unit_test(what_is_no_key_is_refused),
		cmocka_unit_test(a_typed_key_has_several_forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
