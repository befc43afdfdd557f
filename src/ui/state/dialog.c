/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/dialog.h"

#include <inttypes.h>
#include <string.h>

enum {
	TEXT_LEAST = 5,  /* rows of text, for which the choices are shortened */
	WIDTH_LEAST = 6, /* of a line */
};

void dialog_open(struct dialog *dialog, struct question *question)
{
	dialog_close(dialog);
	dialog->question = *question;
	*question = (struct question){ 0 };
}

void dialog_close(struct dialog *dialog)
{
	question_free(&dialog->question);
	*dialog = (struct dialog){ 0 };
}

/* ---- keys ------------------------------------------------------------------------------------- */

/* Laying out stops it at the end. */
static void scroll(struct dialog *dialog, size_t lines, bool is_down)
{
	if (is_down)
		dialog->top += lines;
	else
		dialog->top -= lines < dialog->top ? lines : dialog->top;
}

static void move(struct dialog *dialog, bool is_down)
{
	const size_t count = dialog->question.choice_count;
	if (count < 2)
		scroll(dialog, 1, is_down);
	else if (is_down && dialog->cursor + 1 < count)
		dialog->cursor++;
	else if (!is_down && dialog->cursor)
		dialog->cursor--;
}

static void move_or_scroll(struct dialog *dialog, key_code key)
{
	const size_t page = dialog->room > 1 ? dialog->room - 1 : 1;
	switch (key) {
	case KEY_CODE_UP:
	case KEY_CODE_DOWN:
		move(dialog, key == KEY_CODE_DOWN);
		break;
	case KEY_CODE_PAGE_UP:
	case KEY_CODE_PAGE_DOWN:
		scroll(dialog, page, key == KEY_CODE_PAGE_DOWN);
		break;
	default:
		if (key > '0' && key - '1' < dialog->question.choice_count)
			dialog->cursor = key - '1';
		break;
	}
}

bool dialog_key(struct dialog *dialog, key_code key, enum choice_kind *ret)
{
	switch (key) {
	case KEY_CODE_ENTER:
		*ret = dialog->question.choices[dialog->cursor].kind;
		return true;
	case KEY_CODE_ESCAPE:
		*ret = CHOICE_NONE;
		return true;
	default:
		move_or_scroll(dialog, key);
		return false;
	}
}

/* ---- lines ------------------------------------------------------------------------------------ */

void dialog_page_free(struct dialog_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->lines[i].text);
	free(page->lines);
	*page = (struct dialog_page){ 0 };
}

/* What a line is like, and what precedes its text: in its first row, and in the others. */
struct style {
	enum dialog_part part;
	bool is_chosen;
	const char *first, *rest;
};

static void add(struct dialog_page *page, const struct style *style, char *text)
{
	page->lines = xreallocarray(page->lines, page->count + 1, sizeof(*page->lines));
	page->lines[page->count++] = (struct dialog_line){ style->part, style->is_chosen, text };
}

size_t dialog_fitting(const char *text, size_t width)
{
	size_t length = strlen(text);
	if (length <= width)
		return length;
	for (length = width; length && text[length] != ' '; length--)
		;
	if (length)
		return length;
	for (length = width; length && is_inside_character(text[length]); length--)
		;
	while (!length || is_inside_character(text[length]))
		length++;
	return length;
}

static void add_words(struct dialog_page *page, const struct style *style, size_t columns,
		      const char *text)
{
	const char *lead = style->first;
	do {
		const size_t indent = strlen(lead);
		const size_t width = columns >= indent + WIDTH_LEAST ? columns - indent
								     : WIDTH_LEAST;
		const size_t length = dialog_fitting(text, width);
		add(page, style, xasprintf("%s%.*s", lead, (int)length, text));
		text += length;
		text += *text == ' ';
		lead = style->rest;
	} while (*text);
}

static void add_evidence(struct dialog_page *page, const struct evidence *evidence, size_t columns)
{
	static const struct style heading = { PART_HEADING, false, "", "" };
	static const struct style item = { PART_TEXT, false, "  ", "    " };
	const int64_t count = (int64_t)evidence->items.count + evidence->more;
	cleanup_free char *title = xasprintf("%s (%" PRId64 ")", evidence->heading, count);
	cleanup_free char *more = xasprintf("and %" PRId64 " more", evidence->more);
	add_words(page, &heading, columns, title);
	for (size_t i = 0; i < evidence->items.count; i++)
		add_words(page, &item, columns, evidence->items.items[i]);
	if (evidence->more)
		add_words(page, &item, columns, more);
}

static void lay_out_text(const struct question *question, size_t columns, struct dialog_page *page)
{
	static const struct style text = { PART_TEXT, false, "", "  " };
	for (size_t i = 0; i < question->lines.count; i++)
		add_words(page, &text, columns, question->lines.items[i]);
	for (size_t i = 0; i < question->evidence_count; i++)
		add_evidence(page, &question->evidence[i], columns);
}

static void add_choice(struct dialog_page *page, const struct dialog *dialog, size_t index,
		       size_t columns, bool is_short)
{
	const struct choice *choice = &dialog->question.choices[index];
	const bool is_chosen = index == dialog->cursor;
	cleanup_free char *first = xasprintf("%s%s", is_chosen ? "> " : "  ",
					     choice->loses ? "! " : "");
	const struct style style = { choice->loses ? PART_LOSS : PART_CHOICE, is_chosen, first,
				     choice->loses ? "    " : "  " };
	cleanup_free char *whole = xasprintf("%s%s%s", choice->label, *choice->effect ? " - " : "",
					     choice->effect);
	add_words(page, &style, columns, is_short && !is_chosen ? choice->label : whole);
}

static void lay_out_choices(const struct dialog *dialog, size_t columns, bool is_short,
			    struct dialog_page *page)
{
	static const struct style prompt = { PART_PROMPT, false, "", "" };
	const struct question *question = &dialog->question;
	if (!is_short && (question->lines.count || question->evidence_count))
		add_words(page, &prompt, columns, "");
	add_words(page, &prompt, columns, dialog->question.prompt);
	for (size_t i = 0; i < dialog->question.choice_count; i++)
		add_choice(page, dialog, i, columns, is_short);
}

/* The title says which lines are seen. */
static void add_title(struct dialog_page *page, const struct dialog *dialog, size_t count)
{
	static const struct style style = { PART_TITLE, false, "", "" };
	const char *title = dialog->question.title;
	const size_t last = dialog->top + dialog->room;
	add(page, &style,
	    dialog->scrolls
		    ? xasprintf("%s (lines %zu-%zu of %zu)", title, dialog->top + 1, last, count)
		    : xstrdup(title));
}

static void take_lines(struct dialog_page *page, struct dialog_page *from, size_t first,
		       size_t count)
{
	for (size_t i = first; i < from->count && i < first + count; i++) {
		const struct style style = { from->lines[i].part, from->lines[i].is_chosen, "",
					     "" };
		add(page, &style, TAKE_PTR(from->lines[i].text));
	}
}

/* The first of so many lines of which the choice under the cursor is one, from its beginning. */
static size_t first_seen(const struct dialog_page *choices, size_t rows)
{
	size_t first = 0, end = choices->count;
	while (first < choices->count && !choices->lines[first].is_chosen)
		first++;
	while (end > first && !choices->lines[end - 1].is_chosen)
		end--;
	const size_t above = end > rows ? end - rows : 0;
	return above < first ? above : first;
}

void dialog_lay_out(struct dialog *dialog, size_t columns, size_t rows, struct dialog_page *ret)
{
	cleanup_dialog_page struct dialog_page text = { 0 }, choices = { 0 };
	lay_out_text(&dialog->question, columns, &text);
	lay_out_choices(dialog, columns, false, &choices);
	if (1 + text.count + choices.count > rows && 1 + TEXT_LEAST + choices.count > rows) {
		dialog_page_free(&choices);
		lay_out_choices(dialog, columns, true, &choices);
	}
	dialog->room = rows > 1 + choices.count ? rows - 1 - choices.count : 0;
	dialog->scrolls = text.count > dialog->room;
	const size_t last = dialog->scrolls ? text.count - dialog->room : 0;
	if (dialog->top > last)
		dialog->top = last;
	add_title(ret, dialog, text.count);
	take_lines(ret, &text, dialog->top, dialog->room);
	take_lines(ret, &choices, first_seen(&choices, rows - 1), rows - 1);
}
