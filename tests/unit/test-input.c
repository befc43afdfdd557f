/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "ui/state/input.h"

static bool press_one(struct input *input, key_code key)
{
	struct keymap keymap;
	keymap_init(&keymap);
	return input_key(input, &keymap, CONTEXT_LINE, key);
}

static void press(struct input *input, const key_code *keys)
{
	for (; *keys; keys++)
		(void)press_one(input, *keys);
}

static const struct {
	key_code keys[12];
	const char *text;
	size_t cursor;
} cases[] = {
	{ { 0 }, "one día", 8 },
	{ { '!' }, "one día!", 9 },
	{ { KEY_CODE_BACKSPACE, KEY_CODE_BACKSPACE }, "one d", 5 },
	{ { KEY_CODE_LEFT, KEY_CODE_LEFT, KEY_CODE_DELETE }, "one da", 5 },
	{ { KEY_CODE_HOME, KEY_CODE_DELETE, 'O' }, "One día", 1 },
	{ { KEY_CODE_HOME, KEY_CODE_BACKSPACE, KEY_CODE_LEFT }, "one día", 0 },
	{ { KEY_CODE_END, KEY_CODE_DELETE, KEY_CODE_RIGHT }, "one día", 8 },
	{ { 'W' & KEY_CODE_CTRL }, "one ", 4 },
	{ { 'W' & KEY_CODE_CTRL, 'W' & KEY_CODE_CTRL, 'W' & KEY_CODE_CTRL }, "", 0 },
	{ { KEY_CODE_LEFT, 'U' & KEY_CODE_CTRL }, "a", 0 },
	{ { KEY_CODE_LEFT, KEY_CODE_LEFT, 0x65E5, ' ' }, "one d日 ía", 9 },
};

static void keys_edit_the_line(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct input input = { 0 };
		input_set(&input, "one día");
		press(&input, cases[i].keys);
		assert_string_equal(input_text(&input), cases[i].text);
		assert_int_equal(input.cursor, cases[i].cursor);
		input_free(&input);
	}
}

static void other_keys_are_not_for_the_line(void **state UNUSED)
{
	struct input input = { 0 };
	assert_false(press_one(&input, KEY_CODE_ENTER));
	assert_false(press_one(&input, KEY_CODE_ESCAPE));
	assert_false(press_one(&input, KEY_CODE_F1));
	assert_false(press_one(&input, 'Z' & KEY_CODE_CTRL));
	assert_string_equal(input_text(&input), "");
	input_free(&input);
}

static void an_empty_line_takes_every_key(void **state UNUSED)
{
	struct input input = { 0 };
	press(&input, (const key_code[]){ KEY_CODE_BACKSPACE, KEY_CODE_DELETE, KEY_CODE_LEFT,
					  KEY_CODE_RIGHT, 'U' & KEY_CODE_CTRL, KEY_CODE_HOME, 0 });
	assert_string_equal(input_text(&input), "");
	press(&input, (const key_code[]){ 'a', 0 });
	assert_string_equal(input_text(&input), "a");
	input_free(&input);
}

static void a_line_has_an_end(void **state UNUSED)
{
	struct input input = { 0 };
	for (int i = 0; i < INPUT_MAX + 10; i++)
		(void)press_one(&input, 'x');
	assert_int_equal(input.text.length, INPUT_MAX);
	input_free(&input);
}

static void a_line_has_the_keys_of_its_user(void **state UNUSED)
{
	struct input input = { 0 };
	struct keymap keymap;
	keymap_init(&keymap);
	assert_int_equal(keymap_bind(&keymap, "line.clear=Ctrl-K", NULL), 0);
	input_set(&input, "one");
	assert_false(input_key(&input, &keymap, CONTEXT_LINE, 'U' & KEY_CODE_CTRL));
	assert_string_equal(input_text(&input), "one");
	assert_true(input_key(&input, &keymap, CONTEXT_SEARCH, 'K' & KEY_CODE_CTRL));
	assert_string_equal(input_text(&input), "");
	input_free(&input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_edit_the_line),
		cmocka_unit_test(other_keys_are_not_for_the_line),
		cmocka_unit_test(an_empty_line_takes_every_key),
		cmocka_unit_test(a_line_has_an_end),
		cmocka_unit_test(a_line_has_the_keys_of_its_user),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
