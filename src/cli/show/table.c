/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/table.h"

#include "cli/show/layout.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct table {
	struct layout_column *columns;
	struct layout_row *rows;
	size_t column_count, row_count, room;
	char sequences[TONE_COUNT][STYLE_SEQUENCE_SIZE]; /* "": no colour is wanted */
};

/* By heading.  What is left out first matters least, or is shown elsewhere: an id by --json, a path
 * by session show. */
static const struct layout_column known[] = {
	{ "TITLE", .excess = LAYOUT_CUT, .min = 12, .max = 50 },
	{ "SESSION", .excess = LAYOUT_CUT, .min = 12, .max = 50 },
	{ "STATUS", .excess = LAYOUT_CUT, .min = 14, .max = 70 },
	{ "GROUP", .drop = 5, .excess = LAYOUT_CUT, .min = 6, .max = 24 },
	{ "AGENT", .drop = 4, .excess = LAYOUT_CUT, .min = 6, .max = 16 },
	{ "SINCE", .drop = 3 },
	{ "AGE", .drop = 6 },
	{ "USED", .drop = 6 },
	{ "PROFILE", .drop = 7, .excess = LAYOUT_CUT, .min = 6 },
	{ "ID", .drop = 8 },
	{ "CONVERSATION", .excess = LAYOUT_CUT, .min = 36 },
	{ "FIRST WORDS", .excess = LAYOUT_CUT, .min = 16 },
	{ "TEXT", .excess = LAYOUT_CUT, .min = 16 },
	{ "PATH", .drop = 9, .excess = LAYOUT_CUT, .min = 12 },
	{ "DIRECTORY", .drop = 9, .excess = LAYOUT_CUT, .min = 12 },
	{ "WHERE", .drop = 5, .excess = LAYOUT_CUT, .min = 8 },
	{ "REASON", .excess = LAYOUT_WRAP, .min = 20 },
	{ "SOURCE", .drop = 5, .excess = LAYOUT_CUT, .min = 8 },
	{ "INSTALLED", .excess = LAYOUT_CUT, .min = 12 },
	{ "MEMORY", .is_right = true },
	{ "MAX", .drop = 4, .is_right = true },
	{ "CPU%", .is_right = true },
	{ "TASKS", .drop = 5, .is_right = true },
	{ "PRESSURE", .drop = 3, .excess = LAYOUT_CUT, .min = 10 },
	{ "NOTE", .drop = 2, .excess = LAYOUT_CUT, .min = 8 },
};

static struct layout_column column_of(const char *heading)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (streq(heading, known[i].heading))
			return known[i];
	return (struct layout_column){ .heading = heading };
}

struct table *table_new(const struct app *app, const char *const *headings)
{
	struct table *table = xcalloc(1, sizeof(*table));
	struct skin skin;
	skin_init(&skin, app->deck.settings.ui_theme, &app->deck.settings.ui_colors);
	for (size_t i = 0; app->color && i < TONE_COUNT; i++)
		(void)style_sequence(&skin.styles[i], style_colors(), table->sequences[i]);
	while (headings[table->column_count])
		table->column_count++;
	table->columns = xcalloc(table->column_count + 1, sizeof(*table->columns));
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i] = column_of(headings[i]);
	return table;
}

void table_add(struct table *table, const char *const *cells, enum tone tone)
{
	if (table->row_count == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->rows = xreallocarray(table->rows, table->room, sizeof(*table->rows));
	}
	char **texts = xcalloc(table->column_count + 1, sizeof(*texts));
	for (size_t i = 0; i < table->column_count; i++)
		texts[i] = visible(or_empty(cells[i]));
	table->rows[table->row_count++] = (struct layout_row){
		(const char *const *)texts,
		*table->sequences[tone] ? table->sequences[tone] : NULL,
	};
}

static char *text_of(const struct table *table, size_t width)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const struct layout layout = {
		.columns = table->columns,
		.column_count = table->column_count,
		.rows = table->rows,
		.row_count = table->row_count,
		.width = width,
	};
	layout_add(&layout, &text);
	return strbuf_take(&text);
}

/* 0: standard output is not a terminal. */
static size_t terminal_width(void)
{
	struct winsize size;
	int64_t columns;
	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return parse_int64(or_empty(getenv("COLUMNS")), 1, 10000, &columns) ? (size_t)columns : 80;
}

void table_print(const struct table *table)
{
	cleanup_free char *text = text_of(table, terminal_width());
	fputs(text, stdout);
}

void table_print_whole(const struct table *table)
{
	cleanup_free char *text = text_of(table, 0);
	fputs(text, stdout);
}

char *table_text(const struct table *table, size_t width)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].excess == LAYOUT_WRAP)
			table->columns[i].excess = LAYOUT_CUT;
	return text_of(table, width);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t row = 0; row < table->row_count; row++) {
		char **texts = (char **)table->rows[row].cells;
		for (size_t i = 0; i < table->column_count; i++)
			free(texts[i]);
		free(texts);
	}
	free(table->rows);
	free(table->columns);
	free(table);
}

char *view_text(const struct view *view)
{
	const char *state = view_status(view);
	if (view->host)
		return xasprintf("%s on %s", instance_state_name(view->state), view->host);
	if (view->is_silent)
		return xasprintf("%s: %s", state, or_empty(view->reason));
	if (view->note == VIEW_SUSPENDED || view->note == VIEW_FAILED)
		return xasprintf("%s, %s", state, view->reason);
	const char *word = doing_name(doing_of(view));
	if (view->note == VIEW_SHARING)
		return xasprintf("%s: %s", word, view->reason);
	if (view->state == STATE_RUNNING)
		return xasprintf("%s%s", word, view->is_old ? " (old)" : "");
	if (view->note == VIEW_MOVING)
		return xstrdup(view->reason);
	if (view->note == VIEW_ASLEEP)
		return xstrdup(word);
	if (view->note == VIEW_UNDECIDED || view->note == VIEW_FREED)
		return xasprintf("ended, %s", or_empty(view->reason));
	if (view->state == STATE_ERROR && view->reason)
		return xasprintf("%s: %s", state, view->reason);
	return xstrdup(state);
}

enum tone view_tone(const struct view *view)
{
	if (view->state == STATE_ERROR && !view->host)
		return TONE_ERROR;
	if (view->is_silent ||
	    (view->note != VIEW_PLAIN && view->note != VIEW_FREED && view->note != VIEW_ASLEEP))
		return TONE_WARNING;
	return doing_tone(doing_of(view));
}
