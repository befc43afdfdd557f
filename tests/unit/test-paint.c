/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/painting.h"
#include "unit/test.h"

#include "base/macro.h"

/* One line for each span: its attributes, colours and text. */
static char *described(const char *text)
{
	cleanup_painting struct painting painting = { 0 };
	struct strbuf out = { 0 };
	paint_parse(text, &painting);
	for (size_t i = 0; i < painting.count; i++) {
		for (size_t k = 0; k < painting.lines[i].count; k++) {
			const struct span *span = &painting.lines[i].spans[k];
			strbuf_addf(&out, "%x/%x/%x %s|", span->style.attributes,
				    (unsigned)span->style.foreground & 0x1FFFFFF,
				    (unsigned)span->style.background & 0x1FFFFFF, span->text);
		}
		strbuf_adds(&out, "\n");
	}
	return strbuf_take(&out);
}

static void check(const char *text, const char *expected)
{
	cleanup_free char *found = described(text);
	assert_string_equal(found, expected);
}
#define NONE "1ffffff"

static void colours_and_attributes_are_read(void **state UNUSED)
{
	check("a\033[1;31mb\033[0mc",
	      "0/" NONE "/" NONE " a|1/1/" NONE " b|0/" NONE "/" NONE " c|\n");
	check("\033[94;107mx\033[39;49my", "0/c/f x|0/" NONE "/" NONE " y|\n");
	check("\033[38;5;208;48;2;1;2;3mx", "0/d0/1010203 x|\n");
	check("\033[38:2::255:0:16mx\033[38:2:1:2:3my\033[48:5:7mz",
	      "0/1ff0010/" NONE " x|0/1010203/" NONE " y|0/1010203/7 z|\n");
	check("\033[4:3;58:5:9mx\033[24my", "8/" NONE "/" NONE " x|0/" NONE "/" NONE " y|\n");
	check("\033[7mx\033[my", "10/" NONE "/" NONE " x|0/" NONE "/" NONE " y|\n");
	/* They go on behind the end of the line. */
	check("\033[2mx\ny", "2/" NONE "/" NONE " x|\n2/" NONE "/" NONE " y|\n");
	/* too large, too many, cut off */
	check("\033[38;5;999mx", "0/" NONE "/" NONE " x|\n");
	check("\033[99999999999999999999mx", "0/" NONE "/" NONE " x|\n");
	check("\033[38;2;1mx", "0/" NONE "/" NONE " x|\n");
	check("\033[38;5", "");
}

static void lines_are_drawn(void **state UNUSED)
{
	check("\016lqk\017q", "0/" NONE "/" NONE " ┌─┐q|\n");
}

static void text_of(const char *text, const char *expected)
{
	cleanup_painting struct painting painting = { 0 };
	paint_parse(text, &painting);
	cleanup_free char *found = painting_text(&painting);
	assert_string_equal(found, expected);
}

static void nothing_else_is_obeyed(void **state UNUSED)
{
	text_of("a\033[2J\033[Hb\033[?1049h\033[>4;2mc", "abc\n");
	text_of("a\033]0;title\ab\033]8;;http://x\033\\c", "abc\n");
	text_of("a\033Pq#0\033\\b\033_x\033\\c\033^x\033\\d\033Xx\033\\e", "abcde\n");
	text_of("a\033]52;c;aGk=", "a\n");
	text_of("a\033cb\033(0c\033#8d\033=e", "abcde\n");
	text_of("a\b\r\v\177b", "ab\n");
	text_of("a\303(\200", "a\\303(\\200\n");
	/* C1, and what turns the order of characters round */
	text_of("\302\233"
		"2Ja\342\200\256b",
		"\\302\\2332Ja\\342\\200\\256b\n");
	text_of("\033", "");
	text_of("\033[", "");
	text_of("\033]", "");
	text_of("one\n\ta\tb\n\n  \n", "one\n        a       b\n");
}

static void a_line_of_colour_is_not_blank(void **state UNUSED)
{
	cleanup_painting struct painting painting = { 0 };
	paint_parse("a\n\033[41m   \033[0m\n   \n", &painting);
	assert_int_equal(painting.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_and_attributes_are_read),
		cmocka_unit_test(lines_are_drawn),
		cmocka_unit_test(nothing_else_is_obeyed),
		cmocka_unit_test(a_line_of_colour_is_not_blank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
