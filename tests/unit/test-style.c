/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/style.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void colours_are_those_that_the_terminal_has(void **state UNUSED)
{
	assert_int_equal(style_reduce(STYLE_DEFAULT, 256), STYLE_DEFAULT);
	assert_int_equal(style_reduce(3, 0), STYLE_DEFAULT);
	assert_int_equal(style_reduce(208, 256), 208);
	assert_int_equal(style_reduce(12, 16), 12);
	assert_int_equal(style_reduce(12, 8), 4);
	assert_true(style_is_bright(12));
	assert_false(style_is_bright(4));
	assert_int_equal(style_reduce(STYLE_RGB | 0xFF0000, 256), 196);
	assert_int_equal(style_reduce(STYLE_RGB | 0x808080, 256), 244);
	assert_int_equal(style_reduce(196, 16), 9);
	assert_int_equal(style_reduce(STYLE_RGB | 0xC00000, 8), 1);
	assert_int_equal(style_reduce(5, 1 << 24), 5);
	assert_int_equal(style_reduce(196, 1 << 24), 0xFF0000);
	assert_int_equal(style_reduce(STYLE_RGB | 0x123456, 1 << 24), 0x123456);
	assert_int_equal(style_reduce(STYLE_RGB | 1, 1 << 24), 8);
}

static void assert_sequence(const char *text, int colors, const char *expected)
{
	char buffer[STYLE_SEQUENCE_SIZE];
	struct style style;
	assert_int_equal(style_parse(text, &style, NULL), 0);
	assert_string_equal(style_sequence(&style, colors, buffer), expected);
}

static void words_become_a_sequence(void **state UNUSED)
{
	assert_sequence("", 256, "");
	assert_sequence("default", 256, "");
	assert_sequence("red", 8, "\033[31m");
	assert_sequence("bold  magenta", 256, "\033[1;35m");
	assert_sequence("bright-blue", 16, "\033[94m");
	assert_sequence("underline reverse 208 on 17", 256, "\033[4;7;38;5;208;48;5;17m");
	assert_sequence("#FF8000 on black", 1 << 24, "\033[38;2;255;128;0;40m");
	assert_sequence("#ff0000", 256, "\033[38;5;196m");
	assert_sequence("#cc0000", 8, "\033[31m");
	assert_sequence("bold red", 0, "\033[1m");
}

static void a_word_that_is_no_colour_is_named(void **state UNUSED)
{
	static const char *const wrong[] = { "puce", "256", "-1", "#12345", "#12345g", "bright-" };
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_free char *text = xasprintf("bold %s on red", wrong[i]);
		cleanup_free char *named = xasprintf("\"%s\" is no colour", wrong[i]);
		struct style style = { .attributes = 99 };
		assert_int_equal(style_parse(text, &style, &err), -1);
		assert_int_equal(style.attributes, 99);
		assert_non_null(strstr(err.message, named));
	}
}

static void the_terminal_says_how_many_colours_it_has(void **state UNUSED)
{
	(void)unsetenv("COLORTERM");
	(void)setenv("TERM", "xterm", 1);
	assert_int_equal(style_colors(), 8);
	(void)setenv("TERM", "tmux-256color", 1);
	assert_int_equal(style_colors(), 256);
	(void)setenv("COLORTERM", "truecolor", 1);
	assert_int_equal(style_colors(), 1 << 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_are_those_that_the_terminal_has),
		cmocka_unit_test(words_become_a_sequence),
		cmocka_unit_test(a_word_that_is_no_colour_is_named),
		cmocka_unit_test(the_terminal_says_how_many_colours_it_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
