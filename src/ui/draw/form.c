/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/form.h"

#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

enum { WIDTH_LABEL = 11, COMMAND_ROWS = 3, PROBLEM_ROWS = 5, FOUND_MAX = 20 };
/* A form so wide has notes behind its fields, from this column on. */
enum { NOTES_FROM = 80, NOTES_AT = 48 };

/* On up to rows rows, broken anywhere: it is to be read, or copied.  Returns how many it takes. */
static size_t put_wrapped(size_t row, size_t rows, enum tone tone, const char *text)
{
	const size_t width = term_columns();
	size_t used = 0, columns;
	for (; *text && used < rows; used++) {
		const bool is_last = used + 1 == rows;
		const size_t length = is_last ? strlen(text) : term_fitting(text, width, &columns);
		cleanup_free char *line = xstrndup(text, length);
		term_put(row + used, 0, width, tone, line);
		text += length ? length : strlen(text);
	}
	return used;
}

static size_t wrapped_rows(const char *text, size_t most)
{
	const size_t width = term_columns();
	const size_t rows = width ? (term_width(text) + width - 1) / width : 1;
	return rows > most ? most : rows;
}

/* Returns the column behind. */
static size_t draw_text(const struct form *form, enum form_field field, size_t row)
{
	const struct input *input = &form->texts[field];
	const size_t width = term_columns();
	const size_t room = width > WIDTH_LABEL + 1 ? width - WIDTH_LABEL - 1 : 1;
	cleanup_free char *shown = visible(input_text(input));
	return WIDTH_LABEL + 2 +
	       (form->at == field ? draw_typed(row, WIDTH_LABEL, room, input)
				  : term_put(row, WIDTH_LABEL, room, TONE_PLAIN, shown));
}

/* How many columns the choices from first to last take. */
static size_t choices_width(const struct form *form, enum form_field field, size_t first,
			    size_t last)
{
	size_t width = 0;
	for (size_t i = first; i <= last; i++)
		if (!form_lacks(form, field, i) || i == form->chosen[field])
			width += term_width(form_choice(form, field, i)) + 2;
	return width + 2;
}

/* All choices, and which one counts; of those that are not installed only that.  Returns the column
 * behind. */
static size_t draw_choice(const struct form *form, enum form_field field, size_t row)
{
	const size_t chosen = form->chosen[field], columns = term_columns();
	const size_t room = columns > WIDTH_LABEL ? columns - WIDTH_LABEL : 1;
	size_t column = WIDTH_LABEL, first = 0, lacking = 0;
	while (first < chosen && choices_width(form, field, first, chosen) > room)
		first++;
	for (size_t i = first; i < form_choices(form, field); i++) {
		const bool lacks = form_lacks(form, field, i), counts = i == chosen;
		lacking += lacks;
		if (lacks && !counts)
			continue;
		cleanup_free char *text = xasprintf(counts ? "(%s)%s" : "%s%s",
						    form_choice(form, field, i),
						    lacks ? " not installed here" : "");
		cleanup_free char *shown = visible(text);
		if (counts && form->at == field)
			term_cursor(row, column + 1);
		if (column < columns)
			column += 2 + term_put(row, column, columns - column,
					       !counts             ? TONE_FAINT
					       : form->at == field ? TONE_KEY
								   : TONE_PLAIN,
					       shown);
	}
	cleanup_free char *more = xasprintf("%zu more, not installed", lacking);
	if (lacking && column + term_width(more) <= columns)
		column += 2 + term_put(row, column, columns - column, TONE_FAINT, more);
	return column;
}

/* A session that is alive in this directory; NULL: there is none. */
static const struct item *neighbour_of(const struct ui *ui)
{
	cleanup_free char *path = form_path(&ui->form);
	cleanup_free char *shown = visible(path);
	for (size_t i = 0; i < list_count(ui->list); i++) {
		const struct item *item = list_at(ui->list, i);
		if (!item->host && doing_is_alive(item->doing) && streq(item->directory, shown))
			return item;
	}
	return NULL;
}

/* What there is to know about the field, where there is room behind it. */
static void draw_note(const struct ui *ui, enum form_field field, size_t row, size_t column)
{
	const struct item *item = field == FIELD_WORKSPACE && !ui->form.chosen[field]
					  ? neighbour_of(ui)
					  : NULL;
	cleanup_free char *note = item ? xasprintf("! %s works here, too", item->title)
				       : form_note(&ui->form, field);
	if (column < NOTES_AT)
		column = NOTES_AT;
	/* A note of groups may be cut: it begins with those that fit what is typed. */
	if (term_columns() >= NOTES_FROM && column < term_columns() &&
	    (field == FIELD_GROUP || column + term_width(note) <= term_columns()))
		term_put(row, column, term_columns() - column, item ? TONE_WARNING : TONE_FAINT,
			 note);
}

static void draw_fields(const struct ui *ui, size_t row, size_t rows)
{
	const struct form *form = &ui->form;
	enum form_field fields[FIELD_COUNT];
	const size_t count = form_fields(form, fields);
	size_t at = 0;
	while (fields[at] != form->at)
		at++;
	const size_t first = at >= rows ? at + 1 - rows : 0;
	for (size_t i = first; i < count && i < first + rows; i++) {
		const size_t here = row + i - first;
		size_t end;
		term_put(here, 0, WIDTH_LABEL - 1, i == at ? TONE_KEY : TONE_FAINT,
			 form_label(fields[i]));
		if (form_is_text(fields[i]))
			end = draw_text(form, fields[i], here);
		else
			end = draw_choice(form, fields[i], here);
		draw_note(ui, fields[i], here, end);
	}
}

/* What is known about the field, or what there is to say.  The caller frees. */
static char *news_of(const struct ui *ui, enum tone *ret_tone)
{
	const struct form *form = &ui->form;
	cleanup_strbuf struct strbuf text = { 0 };
	const bool is_busy = form->is_running || ui->mode == MODE_LOOKING;
	*ret_tone = is_busy             ? TONE_WARNING
		    : form->problem     ? TONE_ERROR
		    : form->found.count ? TONE_GROUP
					: TONE_FAINT;
	if (is_busy && !(form->is_running && ui->message))
		return xstrdup(!form->is_running ? "Looking ..."
			       : ui->stage       ? ui->stage
						 : "Making it ...");
	if (ui->message) {
		*ret_tone = ui->is_bad ? TONE_ERROR : TONE_PLAIN;
		return xstrdup(ui->message);
	}
	if (form->problem)
		return xstrdup(form->problem);
	if (!form->found.count)
		return term_columns() < NOTES_FROM ? form_note(form, form->at) : xstrdup("");
	for (size_t i = 0; i < form->found.count && i < FOUND_MAX; i++)
		strbuf_addf(&text, "%s%s%s", i ? "  " : "", form->found.items[i],
			    form->at == FIELD_DIRECTORY ? "/" : "");
	return visible(strbuf_text(&text));
}

static void draw_keys(const struct ui *ui, size_t row)
{
	const struct form *form = &ui->form;
	const bool is_text = form_is_text(form->at), is_directory = form->at == FIELD_DIRECTORY;
	const struct {
		bool is_shown;
		enum action actions[2];
		const char *label;
	} keys[] = {
		{ !form->is_running, { ACTION_FORM_ACCEPT }, "make it" },
		{ true, { ACTION_FORM_CANCEL }, "back" },
		{ true, { ACTION_FORM_COMPLETE }, form_completes(form->at) ? "complete" : "next" },
		{ is_directory, { ACTION_FORM_RECENT }, "recent" },
		{ !is_text, { ACTION_FORM_CHOOSE_PREVIOUS, ACTION_FORM_CHOOSE_NEXT }, "choose" },
		{ true, { ACTION_FORM_CLEAR }, "empty" },
	};
	size_t column = 0;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].is_shown)
			column = draw_actions(ui, row, column, keys[i].actions, keys[i].label);
}

static size_t less(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* From the bottom: the keys, the command, the news; the fields have the rest. */
void draw_form(const struct ui *ui, size_t rows)
{
	const struct form *form = &ui->form;
	enum form_field fields[FIELD_COUNT];
	enum tone tone;
	cleanup_free char *line = form_line(form, ui->profile);
	cleanup_free char *news = news_of(ui, &tone);
	const size_t command_rows = wrapped_rows(line, COMMAND_ROWS);
	const size_t news_rows = wrapped_rows(news, tone == TONE_ERROR ? PROBLEM_ROWS : 1);
	const size_t below = 1 + command_rows + news_rows;
	const size_t room = rows > below + 1 ? rows - below - 1 : 1;
	term_put(0, 0, term_columns(), TONE_HEADER, "new session");
	draw_fields(ui, 1, less(form_fields(form, fields), room));
	if (rows > below) {
		put_wrapped(rows - below, news_rows, tone, news);
		put_wrapped(rows - 1 - command_rows, command_rows, TONE_GROUP, line);
	}
	draw_keys(ui, rows - 1);
}
