/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables for people, as text for a terminal of a given width.
 */
#include "unit/test.h"

#include "cli/show/layout.h"
#include "cli/show/table.h"

#include <string.h>

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define CELLS(...) ((const char *const[]){ __VA_ARGS__ })

enum { WIDE = 200 };

static struct table *table_of(bool color, const char *const *headings)
{
	struct app *app = xcalloc(1, sizeof(*app));
	app->color = color;
	struct table *table = table_new(app, headings);
	free(app);
	return table;
}

static void each_row_is_a_line_below_the_headings(void **state UNUSED)
{
	cleanup_table struct table *table = table_of(false, WORDS("ID", "TITLE"));
	table_add(table, CELLS("0123abcd", "one"), TONE_PLAIN);
	table_add(table, CELLS("0123abce", ""), TONE_ERROR);
	cleanup_free char *text = table_text(table, WIDE);
	assert_true(starts_with(text, "ID        TITLE\n0123abcd  one\n0123abce\n"));
	/* no colour where none is wanted */
	assert_null(strchr(text, '\033'));
}

static void a_row_has_its_colour_where_colours_are_wanted(void **state UNUSED)
{
	cleanup_table struct table *table = table_of(true, WORDS("ID"));
	table_add(table, CELLS("plain"), TONE_PLAIN);
	table_add(table, CELLS("alarm"), TONE_ERROR);
	cleanup_free char *text = table_text(table, WIDE);
	assert_non_null(strstr(text, "\033[1;31malarm"));
	assert_null(strstr(text, "mplain"));
}

static void a_status_that_may_have_changed_is_marked(void **state UNUSED)
{
	struct view view = { .state = STATE_RUNNING, .activity = ACTIVITY_BUSY };
	cleanup_free char *now = view_text(&view);
	view.is_old = true;
	cleanup_free char *old = view_text(&view);
	assert_string_equal(now, "busy");
	assert_string_equal(old, "busy (old)");
}

static void text_is_made_visible(void **state UNUSED)
{
	cleanup_table struct table *table = table_of(false, WORDS("TITLE", "PATH"));
	table_add(table, CELLS("a\033[2Jb\nc", "x\ty"), TONE_PLAIN);
	cleanup_free char *text = table_text(table, WIDE);
	assert_non_null(strstr(text, "a\\033[2Jb\\nc"));
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\t'));
}

static void no_line_is_wider_than_the_terminal(void **state UNUSED)
{
	static const char *const headings[] = { "ID", "TITLE", "PATH", "NOTE", NULL };
	cleanup_table struct table *table = table_of(false, headings);
	static const char filler[] = "a-word-that-is-quite-long-and-goes-on-and-on-for-ever";
	table_add(table, CELLS("0123abcd", filler, filler, filler), TONE_PLAIN);
	cleanup_free char *text = table_text(table, 60);
	char *rest = text;
	size_t lines = 0;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		if (layout_text_width(line) > 60)
			fail_msg("too wide: %s", line);
		lines += *line != '\0';
	}
	assert_int_equal(lines, 2);
}

static void numbers_stand_one_below_the_other(void **state UNUSED)
{
	cleanup_table struct table *table = table_of(false, WORDS("MEMORY", "ID"));
	table_add(table, CELLS("5 M", "a"), TONE_PLAIN);
	table_add(table, CELLS("1234 M", "b"), TONE_PLAIN);
	cleanup_free char *text = table_text(table, WIDE);
	assert_non_null(strstr(text, "   5 M  a"));
	assert_non_null(strstr(text, "1234 M  b"));
}

static void what_is_not_there_is_freed_too(void **state UNUSED)
{
	table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_a_line_below_the_headings),
		cmocka_unit_test(a_row_has_its_colour_where_colours_are_wanted),
		cmocka_unit_test(a_status_that_may_have_changed_is_marked),
		cmocka_unit_test(text_is_made_visible),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(numbers_stand_one_below_the_other),
		cmocka_unit_test(what_is_not_there_is_freed_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
