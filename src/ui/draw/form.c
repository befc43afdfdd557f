/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/form.h"

#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

enum { WIDTH_LABEL = 11, COMMAND_ROWS = 3, PROBLEM_ROWS = 5, FOUND_MAX = 20 };

static size_t character_length(const char *text)
{
	size_t length = *text != '\0';
	while (((unsigned char)text[length] & 0xC0) == 0x80)
		length++;
	return length;
}

/* The length in bytes of as many characters as fit. */
static size_t fitting(const char *text, size_t width)
{
	size_t length = 0;
	for (;;) {
		const size_t one = character_length(text + length);
		cleanup_free char *piece = xstrndup(text, length + one);
		if (one == 0 || term_width(piece) > width)
			return length;
		length += one;
	}
}

/* On up to rows rows, broken anywhere: it is to be read, or copied.  Returns how many it takes. */
static size_t put_wrapped(size_t row, size_t rows, enum tone tone, const char *text)
{
	const size_t width = term_columns();
	size_t used = 0;
	for (; *text && used < rows; used++) {
		const bool is_last = used + 1 == rows;
		const size_t length = is_last ? strlen(text) : fitting(text, width);
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

/* The end of a long text is what is seen. */
static void draw_text(const struct form *form, enum form_field field, size_t row)
{
	const struct input *input = &form->texts[field];
	const size_t width = term_columns();
	const size_t room = width > WIDTH_LABEL + 1 ? width - WIDTH_LABEL - 1 : 1;
	const bool is_here = form->at == field;
	cleanup_free char *left = xstrndup(input_text(input),
					   is_here ? input->cursor : input->text.length);
	cleanup_free char *before = visible(left);
	cleanup_free char *shown = visible(input_text(input));
	const char *text = shown, *to_cursor = before;
	while (is_here && *to_cursor && term_width(to_cursor) >= room) {
		const size_t length = character_length(to_cursor);
		to_cursor += length;
		text += length;
	}
	term_put(row, WIDTH_LABEL, room, TONE_PLAIN, text);
	if (is_here)
		term_cursor(row, WIDTH_LABEL + term_width(to_cursor));
}

static void draw_choice(const struct form *form, enum form_field field, size_t row)
{
	const char *chosen = form_choice(form, field);
	const size_t agent = form->chosen[FIELD_AGENT];
	const bool is_missing = field == FIELD_AGENT && agent > form->supply.installed &&
				agent <= form->supply.agents.count;
	cleanup_free char *text = xasprintf("< %s >%s", chosen,
					    is_missing ? " not installed here" : "");
	cleanup_free char *shown = visible(text);
	term_put(row, WIDTH_LABEL, term_columns(), TONE_PLAIN, shown);
	if (form->at == field)
		term_cursor(row, WIDTH_LABEL + 2);
}

static void draw_fields(const struct form *form, size_t row, size_t rows)
{
	enum form_field fields[FIELD_COUNT];
	const size_t count = form_fields(form, fields);
	size_t at = 0;
	while (fields[at] != form->at)
		at++;
	const size_t first = at >= rows ? at + 1 - rows : 0;
	for (size_t i = first; i < count && i < first + rows; i++) {
		const size_t here = row + i - first;
		term_put(here, 0, WIDTH_LABEL - 1, i == at ? TONE_KEY : TONE_FAINT,
			 form_label(fields[i]));
		if (form_is_text(fields[i]))
			draw_text(form, fields[i], here);
		else
			draw_choice(form, fields[i], here);
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
	if (is_busy)
		return xstrdup(form->is_running ? "Making it ..." : "Looking ...");
	if (ui->message) {
		*ret_tone = ui->is_bad ? TONE_ERROR : TONE_PLAIN;
		return xstrdup(ui->message);
	}
	if (form->problem)
		return xstrdup(form->problem);
	if (!form->found.count)
		return xstrdup(form_hint(form));
	for (size_t i = 0; i < form->found.count && i < FOUND_MAX; i++)
		strbuf_addf(&text, "%s%s/", i ? "  " : "", form->found.items[i]);
	return visible(strbuf_text(&text));
}

static void draw_keys(const struct ui *ui, size_t row)
{
	const struct form *form = &ui->form;
	const bool is_text = form_is_text(form->at), is_directory = form->at == FIELD_DIRECTORY;
	const struct {
		bool is_shown;
		enum action action;
		const char *label;
	} keys[] = {
		{ !form->is_running, ACTION_FORM_ACCEPT, "make it" },
		{ true, ACTION_FORM_CANCEL, "back" },
		{ true, ACTION_FORM_COMPLETE, is_directory ? "complete" : "next" },
		{ is_directory, ACTION_FORM_RECENT, "recent" },
		{ !is_text, ACTION_FORM_CHOOSE_PREVIOUS, NULL },
		{ !is_text, ACTION_FORM_CHOOSE_NEXT, "choose" },
		{ true, ACTION_FORM_CLEAR, "empty" },
	};
	size_t column = 0;
	cleanup_strbuf struct strbuf names = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char name[KEYMAP_TEXT_SIZE];
		if (!keys[i].is_shown)
			continue;
		strbuf_addf(&names, "%s%s", names.length ? ", " : "",
			    keymap_text(&ui->keymap, keys[i].action, name));
		if (!keys[i].label)
			continue;
		column = draw_key(row, column, strbuf_text(&names), keys[i].label);
		strbuf_free(&names);
	}
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
	draw_fields(form, 1, less(form_fields(form, fields), room));
	if (rows > below) {
		put_wrapped(rows - below, news_rows, tone, news);
		put_wrapped(rows - 1 - command_rows, command_rows, TONE_GROUP, line);
	}
	draw_keys(ui, rows - 1);
}
