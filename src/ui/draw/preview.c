/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/preview.h"

#include "ui/draw/sign.h"
#include "ui/state/summary.h"
#include "ui/term/term.h"

#include <string.h>

/* ---- a screen that is wider than its place ----------------------------------------------------- */

enum { WRAP_FROM = 8, RULE_LEAST = 8 };

/* One character again and again, as between the parts of an agent's screen. */
static bool is_rule(const struct painted_line *line)
{
	const char *first = line->count ? line->spans[0].text : "";
	size_t length = *first != '\0', count = 0;
	while (is_inside_character(first[length]))
		length++;
	for (size_t i = 0; i < line->count; i++)
		for (const char *at = line->spans[i].text; *at; at += length, count++)
			if (strncmp(at, first, length) != 0)
				return false;
	return count >= RULE_LEAST && *first != ' ';
}

/* Add the line in as many rows as it needs; of a rule only the first. */
static void wrap_line(const struct painted_line *line, size_t width, struct painting *ret)
{
	static const struct style faint = { STYLE_FAINT, STYLE_DEFAULT, STYLE_DEFAULT };
	const bool is_cut = is_rule(line) || width < WRAP_FROM;
	size_t used = 0, columns;
	painting_add_line(ret);
	for (size_t i = 0; i < line->count; i++) {
		const struct span *span = &line->spans[i];
		for (const char *text = span->text; *text;) {
			const size_t length = term_fitting(text, width - used, &columns);
			if (length) {
				painting_add_span(ret, &span->style, xstrndup(text, length));
				used += columns;
				text += length;
			} else if (is_cut || !text[strspn(text, " ")]) {
				break;
			} else {
				painting_add_line(ret);
				painting_add_span(ret, &faint,
						  xstrdup(term_symbol(SYMBOL_WRAPPED)));
				used = 1;
			}
		}
	}
}

/* At least so many of the last rows. */
static void wrap_screen(const struct painting *painting, size_t width, size_t rows,
			struct painting *ret)
{
	size_t first = painting->count > rows ? painting->count - rows : 0;
	for (; first < painting->count; first++)
		wrap_line(&painting->lines[first], width, ret);
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* What `output --turns` has before what the user typed. */
#define TYPED "> "

/* Prose is wrapped between words, and a screen anywhere; what has columns is cut. */
static bool is_prose(enum preview_kind kind)
{
	return kind == PREVIEW_REPLY || kind == PREVIEW_TURNS || kind == PREVIEW_LOG;
}

/* At least so many of the last rows, one string for each. */
static void wrap_end(const struct painting *painting, const struct split *split, size_t rows,
		     struct strvec *ret)
{
	size_t first = painting->count > rows ? painting->count - rows : 0;
	for (; first < painting->count; first++) {
		const struct painted_line *line = &painting->lines[first];
		cleanup_strbuf struct strbuf text = { 0 };
		for (size_t i = 0; i < line->count; i++)
			strbuf_adds(&text, line->spans[i].text);
		const char *rest = strbuf_text(&text);
		/* Each row of what the user typed says so. */
		const char *mark = starts_with(rest, TYPED) && split->width > 8 ? TYPED : "";
		rest += strlen(mark);
		do {
			const size_t length = dialog_fitting(rest, split->width - strlen(mark));
			strvec_push_take(ret, xasprintf("%s%.*s", mark, (int)length, rest));
			rest += length;
			rest += strspn(rest, " ");
		} while (*rest);
	}
}

/* The first row that is seen of count, and *back limited to what there is. */
static size_t scrolled_from_end(size_t count, size_t room, size_t *back)
{
	const size_t last = count > room ? count - room : 0;
	if (*back > last)
		*back = last;
	return last - *back;
}

static void draw_prose(struct preview *preview, const struct split *split)
{
	cleanup_strvec struct strvec lines = { 0 };
	const size_t room = split->height - 1;
	wrap_end(&preview->painting, split, room + preview->back, &lines);
	const size_t first = scrolled_from_end(lines.count, room, &preview->back);
	for (size_t i = first; i < lines.count && i - first < room; i++)
		term_put(split->row + 1 + i - first, split->column, split->width,
			 starts_with(lines.items[i], TYPED) ? TONE_KEY : TONE_PLAIN,
			 lines.items[i]);
}

static void draw_group_preview(const struct ui *ui, const struct split *split)
{
	const char *summary = summary_of_group(ui->list);
	cleanup_free char *text = summary ? xstrdup(summary) : NULL;
	char *rest = text;
	size_t row = 1;
	if (!text)
		return;
	for (const char *line; row < split->height && (line = strsep(&rest, "\n")); row++)
		term_put(split->row + row, split->column, split->width, TONE_PLAIN, line);
}

/* ---- the rule above --------------------------------------------------------------------------- */

enum { TITLE_LEAST = 8 };

/* Whose preview it is.  The caller frees. */
static char *title_of(const struct ui *ui, const struct item *item)
{
	if (item)
		return xstrdup(item->title);
	const struct line *line = list_line(ui->list, list_cursor(ui->list));
	return xasprintf("%.*s%s%s", (int)line->path_length, line->item->path,
			 line->path_length ? ": " : "",
			 line->kind == LINE_STOPPED     ? "stopped"
			 : list_host_of(ui->list, line) ? "host"
							: "group");
}

/* What there is to see of the session, or only the open tab, and its place among all that are
 * shown: above all others it is away from its place. *ret_at: where the open tab begins.  The
 * caller frees. */
static char *tabs_text(const struct ui *ui, const struct item *item, bool is_short, size_t *ret_at)
{
	struct strbuf text = { 0 };
	struct list *list = ui->list;
	strbuf_adds(&text, " ");
	for (size_t i = PREVIEW_NONE + 1; i < PREVIEW_COUNT; i++) {
		const bool is_open = i == ui->preview.kind;
		if (is_open)
			*ret_at = text.length;
		if (is_open || !is_short)
			strbuf_addf(&text, is_open ? "[%s] " : "%s ",
				    preview_name((enum preview_kind)i));
	}
	if (list_lines(list) && !list_line(list, list_cursor(list))->is_pinned)
		strbuf_addf(&text, " %zu/%zu ", item->place, list_counts(list).shown);
	return strbuf_take(&text);
}

/* At the end of the rule.  Returns the column where they begin. */
static size_t draw_tabs(const struct ui *ui, const struct split *split, const struct item *item)
{
	size_t at = 0;
	cleanup_free char *text = tabs_text(ui, item, false, &at);
	if (TITLE_LEAST + strlen(text) > split->width) {
		free(text);
		text = tabs_text(ui, item, true, &at);
	}
	const size_t length = strlen(text);
	if (length + 1 > split->width)
		return split->width;
	const size_t first = split->width - length - 1, column = split->column + first;
	cleanup_free char *open = xasprintf("[%s]", preview_name(ui->preview.kind));
	term_put(split->row, column, length, TONE_FAINT, text);
	term_put(split->row, column + at, strlen(open), TONE_HEADER, open);
	return first;
}

static void draw_rule(const struct ui *ui, const struct split *split, const struct item *item)
{
	cleanup_free char *title = title_of(ui, item);
	cleanup_free char *text = xasprintf(" %s ", title);
	for (size_t i = 0; i < split->width; i++)
		term_put(split->row, split->column + i, 1, TONE_FAINT, term_symbol(SYMBOL_RULE));
	const size_t end = item ? draw_tabs(ui, split, item) : split->width;
	if (end > 1)
		term_put(split->row, split->column + 1, end - 1, TONE_HEADER, text);
}

/* What is seen of the lines begins with this one. */
static size_t first_painted(struct preview *preview, size_t count, size_t room)
{
	const size_t last = count > room ? count - room : 0;
	if (!preview_is_from_top(preview->kind))
		return scrolled_from_end(count, room, &preview->back);
	if (preview->back > last)
		preview->back = last;
	return preview->back;
}

void draw_preview(struct ui *ui, const struct split *split)
{
	struct preview *preview = &ui->preview;
	const struct item *item = ui_previewed(ui);
	const bool is_there = item && preview_shows(preview, preview->kind, item->id);
	if (split->height == 0)
		return;
	if (!is_there)
		preview->back = 0;
	for (size_t i = 0; split->column && i < split->height; i++)
		term_put(split->row + i, split->column - 2, 1, TONE_FAINT, term_symbol(SYMBOL_BAR));
	draw_rule(ui, split, item);
	if (!item) {
		draw_group_preview(ui, split);
		return;
	}
	if (is_there && (is_prose(preview->kind) || preview->has_failed)) {
		draw_prose(preview, split);
		return;
	}
	if (!is_there)
		return;
	const size_t room = split->height - 1;
	cleanup_painting struct painting wrapped = { 0 };
	if (preview->kind == PREVIEW_SCREEN)
		wrap_screen(&preview->painting, split->width, room + preview->back, &wrapped);
	const struct painting *shown = preview->kind == PREVIEW_SCREEN ? &wrapped
								       : &preview->painting;
	const size_t first = first_painted(preview, shown->count, room);
	for (size_t i = 0; i < room && first + i < shown->count; i++)
		draw_painted(split->row + 1 + i, split->column, split->width,
			     &shown->lines[first + i]);
}
