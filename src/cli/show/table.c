/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/table.h"

#include <libsmartcols.h>

struct table {
	struct libscols_table *columns;
	size_t count;
};

/* On a narrow terminal, long texts may be cut or wrapped, ids and states may not.  Numbers are
 * aligned to the right. */
static int column_flags(const char *heading)
{
	static const char *const numbers[] = { "MEMORY", "MAX", "CPU%", "TASKS" };
	if (streq(heading, "PATH") || streq(heading, "NOTE"))
		return SCOLS_FL_TRUNC;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (streq(heading, numbers[i]))
			return SCOLS_FL_RIGHT;
	return streq(heading, "REASON") ? SCOLS_FL_WRAP : 0;
}

struct table *table_new(const struct app *app, const char *const *headings)
{
	struct table *table = xcalloc(1, sizeof(*table));
	table->columns = scols_new_table();
	if (!table->columns)
		abort();
	scols_table_enable_colors(table->columns, app->color);
	for (; headings[table->count]; table->count++)
		if (!scols_table_new_column(table->columns, headings[table->count], 0.1,
					    column_flags(headings[table->count])))
			abort();
	return table;
}

void table_add(struct table *table, const char *const *cells, const char *color)
{
	struct libscols_line *line = scols_table_new_line(table->columns, NULL);
	if (!line)
		abort();
	for (size_t i = 0; i < table->count; i++) {
		cleanup_free char *text = visible(cells[i]);
		if (scols_line_set_data(line, i, text) != 0)
			abort();
	}
	if (color)
		scols_line_set_color(line, color);
}

void table_print(struct table *table)
{
	scols_print_table(table->columns);
}

char *table_text(struct table *table, size_t width)
{
	char *text = NULL;
	/* A row must not become two lines, so its texts are cut. */
	for (size_t i = 0; i < table->count; i++) {
		struct libscols_column *column = scols_table_get_column(table->columns, i);
		if (scols_column_get_flags(column) == 0)
			(void)scols_column_set_flags(column, SCOLS_FL_TRUNC);
	}
	scols_table_set_termforce(table->columns, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table->columns, width);
	if (scols_print_table_to_string(table->columns, &text) != 0 || !text)
		abort();
	return text;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->columns);
	free(table);
}

char *view_text(const struct view *view)
{
	const char *state = view_status(view);
	if (view->host)
		return xasprintf("%s on %s", instance_state_name(view->state), view->host);
	if (view->is_silent)
		return xasprintf("%s: %s", state, or_empty(view->reason));
	if (view->is_sharing)
		return xasprintf("%s, %s: %s", state, instance_activity_name(view->activity),
				 view->reason);
	if (view->state == STATE_RUNNING && view->activity != ACTIVITY_UNKNOWN)
		return xasprintf("%s, %s", state, instance_activity_name(view->activity));
	if (view->state == STATE_ERROR && view->reason)
		return xasprintf("%s: %s", state, view->reason);
	return xstrdup(state);
}

const char *view_color(const struct view *view)
{
	if (view->state == STATE_ERROR && !view->host)
		return "red";
	if (view->is_silent || view->is_sharing ||
	    (view->state == STATE_RUNNING && view->activity == ACTIVITY_WAITING))
		return "yellow";
	return view->state == STATE_RUNNING ? "green" : NULL;
}
