/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows as lines of text for a terminal of a given width, without a terminal.
 */
#include "unit/test.h"

#include "cli/show/layout.h"

#include <locale.h>
#include <string.h>

#define CELLS(...) ((const char *const[]){ __VA_ARGS__ })
#define TEN(text)  text text text text text text text text text text

/* What users call their sessions. */
static const char *const hostile[] = {
	TEN("twenty characters   "),                                  /* 200 */
	TEN("abcdefghijklmnopqrst"),                                  /* 200, one word */
	TEN("日本語日本語日本語"),                                    /* two columns each */
	TEN("👩‍👩‍👧‍👦🏳️‍🌈⚙️🇩🇪"), /* joined, with a style, flags
								       */
	TEN("e\u0301\u0302\u0303\u0304\u0305"),                       /* five on each letter */
	"\u0301\u0302 begins with what combines",
	"a\u200bb\u200dc\u2060d",
	"\xff\xfe\x80 is not UTF-8",
	"\U0001fae8 is newer than some libraries",
	"א מימין לשמאל ب",
	"",
};

static const struct layout_column columns[] = {
	{ "TITLE", .excess = LAYOUT_CUT, .min = 12, .max = 50 },
	{ "GROUP", .drop = 5, .excess = LAYOUT_CUT, .min = 6, .max = 24 },
	{ "AGENT", .drop = 4, .excess = LAYOUT_CUT, .min = 6, .max = 16 },
	{ "STATUS", .excess = LAYOUT_CUT, .min = 14 },
	{ "SINCE", .drop = 3 },
	{ "AGE", .drop = 6, .is_right = true },
};

static char *lines_of(const struct layout_column *of, size_t column_count,
		      const struct layout_row *rows, size_t row_count, size_t width)
{
	struct strbuf text = { 0 };
	const struct layout layout = { of, column_count, rows, row_count, width };
	layout_add(&layout, &text);
	return strbuf_take(&text);
}

static void assert_lines(const struct layout_column *of, size_t column_count,
			 const char *const *cells, size_t width, const char *expected)
{
	const struct layout_row row = { cells, NULL };
	cleanup_free char *text = lines_of(of, column_count, &row, 1, width);
	assert_string_equal(text, expected);
}

/* Returns the number of lines.  The rows may have colours. */
static size_t assert_none_is_wider(const char *text, size_t width)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	size_t count = 0;
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (starts_with(line, "\033[31m"))
			line += strlen("\033[31m");
		if (ends_with(line, "\033[0m"))
			line[strlen(line) - strlen("\033[0m")] = '\0';
		if (layout_text_width(line) > width)
			fail_msg("%zu instead of %zu: %s", layout_text_width(line), width, line);
		count += *line != '\0';
	}
	return count;
}

/* A single long reason does not make each line as long. */
static void a_long_text_moves_only_its_own_row(void **state UNUSED)
{
	static const struct layout_column bounded[] = {
		{ "STATUS", .excess = LAYOUT_CUT, .max = 8 },
		{ "AGE", .is_right = true, .max = 4 },
		{ .heading = "PATH" },
	};
	const struct layout_row rows[] = {
		{ CELLS("error: exit 1", "1 s", "/a"), NULL },
		{ CELLS("stopped", "20 s", "/b"), NULL },
		{ CELLS("日本語日本", "300 days", "/c"), NULL },
	};
	cleanup_free char *text = lines_of(bounded, ARRAY_SIZE(bounded), rows, 3, 0);
	assert_string_equal(text, "STATUS    AGE  PATH\n"
				  "error: exit 1   1 s  /a\n"
				  "stopped  20 s  /b\n"
				  "日本語日本  300 days  /c\n");
}

static void width_is_that_of_a_terminal(void **state UNUSED)
{
	assert_int_equal(layout_text_width(""), 0);
	assert_int_equal(layout_text_width("title"), 5);
	assert_int_equal(layout_text_width("größe"), 5);
	assert_int_equal(layout_text_width("日本"), 4);
	assert_int_equal(layout_text_width("e\u0301\u0302"), 1);
	assert_int_equal(layout_text_width("👍"), 2);
	/* 1 on some terminals, 2 on others */
	assert_int_equal(layout_text_width("⚙\ufe0f"), 2);
	assert_int_equal(layout_text_width("a\xff"
					   "b"),
			 3);
}

static void the_locale_of_the_caller_does_not_matter(void **state UNUSED)
{
	assert_non_null(setlocale(LC_ALL, "C"));
	assert_int_equal(layout_text_width("日本"), 4);
	assert_int_equal(layout_text_width("e\u0301"), 1);
}

static void wide_terminals_show_all(void **state UNUSED)
{
	const char *const cells[] = { "api", "work/api", "claude", "running, idle", "3 min", "2 d" };
	assert_lines(columns, 6, cells, 200,
		     "TITLE  GROUP     AGENT   STATUS         SINCE  AGE\n"
		     "api    work/api  claude  running, idle  3 min  2 d\n");
}

static void without_a_width_nothing_is_cut(void **state UNUSED)
{
	const char *const cells[] = { hostile[0], "g", hostile[1], hostile[2], "s", "a" };
	const struct layout_row row = { cells, NULL };
	cleanup_free char *text = lines_of(columns, 6, &row, 1, 0);
	assert_non_null(strstr(text, hostile[0]));
	assert_non_null(strstr(text, hostile[1]));
	assert_non_null(strstr(text, hostile[2]));
	assert_null(strstr(text, "…"));
}

static void no_row_is_wider_than_the_terminal(void **state UNUSED)
{
	const size_t count = ARRAY_SIZE(hostile);
	const char *cells[ARRAY_SIZE(hostile)][6];
	struct layout_row rows[ARRAY_SIZE(hostile)];
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < 4; k++)
			cells[i][k] = hostile[(i + k) % count];
		cells[i][4] = "3 min";
		cells[i][5] = "12 d";
		rows[i] = (struct layout_row){ cells[i], i % 2 ? "\033[31m" : NULL };
	}
	for (size_t width = 1; width < 300; width++) {
		cleanup_free char *text = lines_of(columns, 6, rows, count, width);
		/* and no row becomes two */
		if (assert_none_is_wider(text, width) > count + 1)
			fail_msg("at width %zu:\n%s", width, text);
	}
}

static void the_widest_texts_are_cut_first(void **state UNUSED)
{
	static const struct layout_column two[] = { { "A", .excess = LAYOUT_CUT, .min = 2 },
						    { "B", .excess = LAYOUT_CUT, .min = 2 } };
	assert_lines(two, 2, CELLS("0123456789", "012"), 13, "A         B\n0123456…  012\n");
}

static void a_wide_character_is_not_cut_in_the_middle(void **state UNUSED)
{
	static const struct layout_column one[] = { { "A", .excess = LAYOUT_CUT } };
	assert_lines(one, 1, CELLS("日本語"), 6, "A\n日本語\n");
	assert_lines(one, 1, CELLS("日本語"), 5, "A\n日本…\n");
	assert_lines(one, 1, CELLS("日本語"), 4, "A\n日…\n");
	assert_lines(one, 1, CELLS("日本語"), 1, "A\n…\n");
	/* what combines stays with its letter */
	assert_lines(one, 1, CELLS("e\u0301e\u0301e\u0301"), 2, "A\ne\u0301…\n");
}

static void a_column_is_as_wide_as_its_max(void **state UNUSED)
{
	static const struct layout_column two[] = { { "A", .excess = LAYOUT_CUT, .max = 4 },
						    { .heading = "B" } };
	assert_lines(two, 2, CELLS("012345", "b"), 80, "A     B\n012…  b\n");
	assert_lines(two, 2, CELLS("012345", "b"), 0, "A  B\n012345  b\n");
}

static void what_matters_least_is_left_out(void **state UNUSED)
{
	const char *const cells[] = { "a-long-title",  "group1", "claude",
				      "running, idle", "3 min",  "12 d" };
	const struct layout_row row = { cells, NULL };
	static const struct {
		size_t width;
		const char *headings;
	} steps[] = {
		{ 80, "TITLE         GROUP   AGENT   STATUS         SINCE   AGE\n" },
		{ 55, "TITLE         GROUP   AGENT   STATUS         SINCE\n" },
		{ 47, "TITLE         AGENT   STATUS         SINCE\n" },
		{ 40, "TITLE         STATUS         SINCE\n" },
		{ 30, "TITLE         STATUS\n" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		cleanup_free char *text = lines_of(columns, 6, &row, 1, steps[i].width);
		if (!starts_with(text, steps[i].headings))
			fail_msg("width %zu:\n%s", steps[i].width, text);
		(void)assert_none_is_wider(text, steps[i].width);
	}
}

static void text_is_wrapped_in_its_own_column(void **state UNUSED)
{
	static const struct layout_column two[] = { { .heading = "CHECK" },
						    { "REASON", .excess = LAYOUT_WRAP, .min = 5 } };
	assert_lines(two, 2, CELLS("tmux", "it is too old for this"), 17,
		     "CHECK  REASON\n"
		     "tmux   it is too\n"
		     "       old for\n"
		     "       this\n");
	/* a word that is too long is broken */
	assert_lines(two, 2, CELLS("tmux", "/usr/lib/something x"), 17,
		     "CHECK  REASON\n"
		     "tmux   /usr/lib/s\n"
		     "       omething x\n");
	/* a column of one has no room for a wide character */
	assert_lines(two, 2, CELLS("a", "日x"), 4, "…  R\n   E\n   A\n   S\n   O\n   N\na\n   x\n");
}

static void numbers_are_aligned_to_the_right(void **state UNUSED)
{
	static const struct layout_column two[] = { { "MEMORY", .is_right = true },
						    { .heading = "ID" } };
	assert_lines(two, 2, CELLS("5 M", "a"), 80, "MEMORY  ID\n   5 M  a\n");
}

static void no_line_ends_with_blanks(void **state UNUSED)
{
	assert_lines(columns, 6, CELLS("api", "", "claude", "", "", ""), 80,
		     "TITLE  GROUP  AGENT   STATUS  SINCE  AGE\napi           claude\n");
	assert_lines(columns, 6, CELLS("", "", "", "", "", ""), 80,
		     "TITLE  GROUP  AGENT  STATUS  SINCE  AGE\n\n");
}

static void a_row_has_its_color(void **state UNUSED)
{
	static const struct layout_column one[] = { { .heading = "A" } };
	const struct layout_row row = { CELLS("x"), "\033[31m" };
	cleanup_free char *text = lines_of(one, 1, &row, 1, 80);
	assert_string_equal(text, "A\n\033[31mx\033[0m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(width_is_that_of_a_terminal),
		cmocka_unit_test(a_long_text_moves_only_its_own_row),
		cmocka_unit_test(the_locale_of_the_caller_does_not_matter),
		cmocka_unit_test(wide_terminals_show_all),
		cmocka_unit_test(without_a_width_nothing_is_cut),
		cmocka_unit_test(no_row_is_wider_than_the_terminal),
		cmocka_unit_test(the_widest_texts_are_cut_first),
		cmocka_unit_test(a_wide_character_is_not_cut_in_the_middle),
		cmocka_unit_test(a_column_is_as_wide_as_its_max),
		cmocka_unit_test(what_matters_least_is_left_out),
		cmocka_unit_test(text_is_wrapped_in_its_own_column),
		cmocka_unit_test(numbers_are_aligned_to_the_right),
		cmocka_unit_test(no_line_ends_with_blanks),
		cmocka_unit_test(a_row_has_its_color),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
