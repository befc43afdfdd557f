/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/draw.h"

#include "base/clock.h"
#include "ui/draw/form.h"
#include "ui/draw/help.h"
#include "ui/draw/preview.h"
#include "ui/draw/rows.h"
#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

enum {
	NEWS_ROWS_MOST = 5,
	FOOTER_ROWS = 2, /* the news or a line to type, and the keys */
	NAMES_FROM = 18, /* rows of a terminal that has the names of the columns: a popup, too */
	LIST_MOST = 90,  /* columns of a list that has something beside it */
	ONE_BELOW_OTHER = 10,
	COUNT_GAP = 2,
	BOX_FROM = 60, /* columns of a terminal that has questions in a box */
	BOX_ROWS = 20,
	BOX_MOST = 90, /* columns of such a box */
	MARGIN_LEAST = 8,
	LIST_LEAST = 3, /* rows of the list above a screen that the user types at */
};

/* ---- beside the list ------------------------------------------------------------------------- */

/* The rows above the list. */
static size_t header_rows(void)
{
	return term_rows() >= NAMES_FROM ? 2 : 1;
}

static struct split plan_split(const struct ui *ui, size_t height)
{
	const size_t columns = term_columns();
	struct split split = { .list_width = columns, .list_height = height };
	/* A filter may hide the session that its user types for. */
	if (ui->preview.kind == PREVIEW_NONE || (!list_lines(ui->list) && ui->mode != MODE_AGENT))
		return split;
	if (columns >= UI_SIDE_BY_SIDE) {
		split.list_width = columns / 2 - 2 < LIST_MOST ? columns / 2 - 2 : LIST_MOST;
		split.row = header_rows();
		split.column = split.list_width + 3;
		split.width = columns - split.column;
		split.height = height;
	} else {
		/* Where there is no room for both, the list gives way. */
		split.list_height = height < ONE_BELOW_OTHER ? 0
				    : ui->mode == MODE_AGENT ? LIST_LEAST
							     : 3 * height / 5;
		split.row = header_rows() + split.list_height;
		split.width = columns;
		split.height = height - split.list_height;
	}
	return split;
}

/* ---- around the list -------------------------------------------------------------------------- */

/* The caller frees. */
static char *header_text(const struct ui *ui, bool is_short)
{
	const struct list_counts counts = list_counts(ui->list);
	struct strbuf text = { 0 };
	strbuf_addf(&text, "%s%s", is_short ? "" : "agentdeck ", ui->profile);
	if (ui->profiles > 1 && !is_short)
		strbuf_addf(&text, " (of %zu profiles)", ui->profiles);
	strbuf_addf(&text, "  %zu", counts.all);
	if (!is_short)
		strbuf_addf(&text, " session%s", counts.all == 1 ? "" : "s");
	if (counts.shown != counts.all)
		strbuf_addf(&text, ", %zu shown", counts.shown);
	return strbuf_take(&text);
}

static bool filter_is_on(const struct ui *ui)
{
	return ui->search || list_only(ui->list, ONLY_AGENT) || list_only(ui->list, ONLY_GROUP) ||
	       list_scope(ui->list) != SCOPE_ALL;
}

/* What hides sessions, ": those that need you, group work"; "" for nothing.  The caller
 * frees. */
static char *filter_text(const struct ui *ui)
{
	const enum list_scope scope = list_scope(ui->list);
	const struct {
		const char *before, *name;
	} filters[] = {
		{ "", scope == SCOPE_ALL ? NULL : list_scope_name(scope) },
		{ "group ", list_only(ui->list, ONLY_GROUP) },
		{ "agent ", list_only(ui->list, ONLY_AGENT) },
		{ "search ", ui->search },
	};
	struct strbuf text = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (filters[i].name)
			strbuf_addf(&text, "%s%s%s", text.length ? ", " : ": ", filters[i].before,
				    filters[i].name);
	return strbuf_take(&text);
}

/* How many do something, or "".  The caller frees. */
static char *count_text(const struct list_counts *counts, enum doing doing)
{
	const size_t count = counts->doing[doing];
	return count ? xasprintf("%s %zu %s", draw_sign(doing), count, doing_name(doing))
		     : xstrdup("");
}

/* The columns of those that need the user. */
static size_t width_of_needy(const struct list_counts *counts)
{
	size_t width = 0;
	for (size_t i = 0; i < DOING_COUNT && doing_needs_user((enum doing)i); i++) {
		cleanup_free char *text = count_text(counts, (enum doing)i);
		width += *text ? COUNT_GAP + term_width(text) : 0;
	}
	return width;
}

static void draw_header(const struct ui *ui)
{
	struct list_counts counts = list_counts(ui->list);
	const size_t width = term_columns();
	cleanup_free char *chosen = list_chosen(ui->list)
					    ? xasprintf("  %zu chosen", list_chosen(ui->list))
					    : xstrdup("");
	/* Show whole how many need the user, and shorten the rest. */
	cleanup_free char *least = header_text(ui, true);
	if (term_width(least) + term_width(chosen) + width_of_needy(&counts) > width) {
		counts.doing[DOING_WAITING] += counts.doing[DOING_ASKS];
		counts.doing[DOING_ASKS] = 0;
	}
	const size_t needed = term_width(chosen) + width_of_needy(&counts);
	cleanup_free char *text = header_text(ui, false);
	cleanup_free char *filter = filter_text(ui);
	if (term_width(text) + term_width(filter) + needed > width) {
		free(text);
		text = TAKE_PTR(least);
	}
	size_t column = term_put(0, 0, width, TONE_HEADER, text);
	if (column + needed < width)
		column += term_put(0, column, width - column - needed, TONE_WARNING, filter);
	column += term_put(0, column, column < width ? width - column : 0, TONE_WARNING, chosen);
	for (size_t i = 0; i < DOING_COUNT; i++) {
		cleanup_free char *count = count_text(&counts, (enum doing)i);
		if (!*count || column + COUNT_GAP + term_width(count) > width)
			continue;
		column += COUNT_GAP;
		column += term_put(0, column, width - column, doing_tone((enum doing)i), count);
	}
}

/* A question, and the line that is typed behind it. */
static void draw_input(const struct ui *ui, size_t row, const char *question)
{
	const size_t width = term_columns();
	const size_t asked = term_put(row, 0, width, TONE_KEY, question);
	draw_typed(row, asked, width > asked + 1 ? width - asked - 1 : 1, &ui->input);
}

static void draw_blank(size_t row)
{
	cleanup_free char *blank = xasprintf("%*s", (int)term_columns(), "");
	term_put(row, 0, term_columns(), TONE_PLAIN, blank);
}

/* What is told is read to its end: over the end of what is above. */
static void draw_told(const char *text, size_t row, enum tone tone)
{
	const size_t width = term_columns();
	cleanup_strvec struct strvec lines = { 0 };
	while (*text && lines.count + 1 < NEWS_ROWS_MOST && lines.count < row) {
		const size_t length = dialog_fitting(text, width);
		strvec_push_take(&lines, xstrndup(text, length));
		text += length;
		text += *text == ' ';
	}
	if (*text)
		strvec_push(&lines, text);
	for (size_t i = 0; i < lines.count; i++) {
		const size_t here = row + 1 + i - lines.count;
		draw_blank(here);
		term_put(here, 0, width, tone, lines.items[i]);
	}
}

/* The place of a waiting session among all of these, by need. */
static size_t place_in_line(struct list *list, const struct item *item)
{
	size_t place = 1;
	for (size_t i = 0; i < list_count(list); i++)
		place += item_waits(list_at(list, i)) && item_is_before(list_at(list, i), item);
	return place;
}

/* Why the line under the cursor is grey, or its host has none; NULL: that is not so.  The caller
 * frees. */
static char *host_text(const struct ui *ui, int64_t now_us)
{
	char since[CLOCK_TEXT_SIZE];
	const struct item *item = list_selected(ui->list);
	const struct line *line = list_lines(ui->list) ? list_line(ui->list, list_cursor(ui->list))
						       : NULL;
	if (!list_hosts(ui->list) || !line || !(item ? item->is_away : line->item->host > 0))
		return NULL;
	const struct list_host *host = list_host(ui->list, line->item->host);
	const bool is_away = host->condition == HOST_AWAY;
	if (!is_away && host->condition != HOST_REFUSES)
		return NULL;
	(void)clock_moment(host->since_us, now_us, since);
	return xasprintf("%s %s%s%s%s%s", host->name,
			 is_away ? "is unreachable" : "cannot be listed", *since ? " since " : "",
			 since, host->why ? ": " : "", or_empty(host->why));
}

/* The session that needs the user, or what is known of the selected one. */
static void draw_need(const struct ui *ui, size_t row, int64_t now_us)
{
	const struct item *selected = list_selected(ui->list);
	const struct item *item = selected;
	const size_t width = term_columns();
	const struct list_counts counts = list_counts(ui->list);
	const size_t waiting = counts.doing[DOING_ASKS] + counts.doing[DOING_WAITING];
	char since[CLOCK_TEXT_SIZE];
	cleanup_free char *host = host_text(ui, now_us);
	if (host) {
		draw_told(host, row, TONE_WARNING);
		return;
	}
	if (waiting && (!item || (!doing_waits(item->doing) && !*item->reason)))
		item = list_first_waiting(ui->list);
	if (!item)
		return;
	if (item->doing == DOING_ERROR && *item->reason) {
		draw_told(item->reason, row, TONE_ERROR);
		return;
	}
	if (!doing_waits(item->doing)) {
		term_put(row, 0, width, TONE_FAINT, *item->reason ? item->reason : item->directory);
		return;
	}
	(void)clock_moment(item->since_us, now_us, since);
	cleanup_free char *of = waiting > 1 ? xasprintf(", %zu of %zu",
							place_in_line(ui->list, item), waiting)
					    : xstrdup("");
	cleanup_free char *text = xasprintf("%s %s %s%s%s%s%s%s", draw_sign(item->doing),
					    item->title, doing_phrase(item->doing),
					    *since ? " since " : "", since, of,
					    *item->reason ? ": " : "", item->reason);
	term_put(row, 0, width, TONE_WAITING, text);
}

/* For which agent the user types. */
static void draw_recipient(const struct ui *ui, size_t row)
{
	const struct item *item = ui_previewed(ui);
	if (ui->message)
		draw_told(ui->message, row - 1, TONE_ERROR);
	if (!item)
		return;
	cleanup_free char *text = xasprintf("%s You type for %s (%s)%s%s", draw_sign(item->doing),
					    item->title, doing_name(item->doing),
					    *item->reason ? ": " : "", item->reason);
	term_put(row, 0, term_columns(), doing_waits(item->doing) ? TONE_WAITING : TONE_KEY, text);
}

static void draw_news(const struct ui *ui, size_t row, int64_t now_us)
{
	const size_t width = term_columns();
	cleanup_free char *progress = ui_progress(ui);
	if (ui->mode == MODE_SEARCH) {
		draw_input(ui, row, "Search: ");
	} else if (ui->mode == MODE_PICK && !ui->message) {
		draw_input(ui, row, "Go to: ");
	} else if (ui->mode == MODE_AGENT) {
		draw_recipient(ui, row);
	} else if (ui->mode == MODE_LINE) {
		if (ui->message && ui->is_bad)
			draw_told(ui->message, row - 1, TONE_ERROR);
		draw_input(ui, row, ui->question);
	} else if (ui->mode == MODE_LOOKING) {
		term_put(row, 0, width, TONE_WARNING, ui->question);
	} else if (ui->message) {
		draw_told(ui->message, row, ui->is_bad ? TONE_ERROR : TONE_PLAIN);
	} else if (progress || ui->stage) {
		cleanup_free char *text = xasprintf("%s%s%s", or_empty(progress),
						    progress && ui->stage ? "; " : "",
						    or_empty(ui->stage));
		term_put(row, 0, width, TONE_WARNING, text);
	} else {
		draw_need(ui, row, now_us);
	}
}

static const enum action up_and_down[] = { ACTION_UP, ACTION_DOWN };

static void draw_dialog_keys(const struct ui *ui, size_t row)
{
	const struct dialog *dialog = &ui->dialog;
	size_t column = draw_key(row, 0, "Enter", dialog->question.choices[dialog->cursor].label);
	if (ui_asks_yes_or_no(ui))
		column = draw_action(ui, row, column, ACTION_QUESTION_YES, "yes");
	column = draw_key(row, column, "Esc", "cancel");
	if (dialog->scrolls)
		column = draw_action(ui, row, column, ACTION_PAGE_DOWN, "scroll");
	if (dialog->question.choice_count > 1)
		draw_actions(ui, row, column, up_and_down, "choose");
}

enum { KEYS_MOST = 10 };

/* What a user does most with the line under the cursor.  The first ones are there on a narrow
 * terminal, too. */
static const struct line_keys {
	enum action action;
	const char *label;
} group_keys[KEYS_MOST] = {
	{ ACTION_ATTACH, "fold" },   { ACTION_HELP, "help" },         { ACTION_QUIT, "quit" },
	{ ACTION_CHOOSE, "choose" }, { ACTION_START, "start" },       { ACTION_STOP, "stop" },
	{ ACTION_REMOVE, "remove" }, { ACTION_NEXT_WAITING, "next" }, { ACTION_NEW, "new here" },
}, chosen_keys[KEYS_MOST] = {
	{ ACTION_START, "start" },     { ACTION_STOP, "stop" },     { ACTION_REMOVE, "remove" },
	{ ACTION_HELP, "help" },       { ACTION_CHOOSE, "choose" }, { ACTION_SEND, "send" },
	{ ACTION_RESTART, "restart" }, { ACTION_MOVE, "move" },     { ACTION_QUIT, "quit" },
}, waiting_keys[KEYS_MOST] = {
	{ ACTION_APPROVE, "approve" }, { ACTION_DENY, "deny" },       { ACTION_ATTACH, "attach" },
	{ ACTION_HELP, "help" },       { ACTION_QUIT, "quit" },       { ACTION_SEND, "send" },
	{ ACTION_NEXT_WAITING, "next" }, { ACTION_SEARCH, "search" }, { ACTION_NEW, "new" },
}, error_keys[KEYS_MOST] = {
	{ ACTION_RESTART, "restart" }, { ACTION_ATTACH, "attach" },   { ACTION_HELP, "help" },
	{ ACTION_QUIT, "quit" },       { ACTION_PREVIEW, "view" },    { ACTION_REMOVE, "remove" },
	{ ACTION_NEXT_WAITING, "next" }, { ACTION_SEARCH, "search" },
}, stopped_keys[KEYS_MOST] = {
	{ ACTION_ATTACH, "start and attach" }, { ACTION_HELP, "help" },   { ACTION_QUIT, "quit" },
	{ ACTION_START, "start" },             { ACTION_REMOVE, "remove" }, { ACTION_FORK, "fork" },
	{ ACTION_SEARCH, "search" },           { ACTION_NEW, "new" },
}, usual_keys[KEYS_MOST] = {
	{ ACTION_ATTACH, "attach" }, { ACTION_HELP, "help" },     { ACTION_QUIT, "quit" },
	{ ACTION_SEND, "send" },     { ACTION_NEXT_WAITING, "next waiting" },
	{ ACTION_STOP, "stop" },     { ACTION_SEARCH, "search" }, { ACTION_NEW, "new" },
}, empty_keys[KEYS_MOST] = {
	{ ACTION_ATTACH, "do it" }, { ACTION_NEW, "new" }, { ACTION_HELP, "help" },
	{ ACTION_QUIT, "quit" },
};

static const struct line_keys *keys_of_line(const struct ui *ui)
{
	const struct item *item = list_selected(ui->list);
	if (!list_lines(ui->list))
		return empty_keys;
	if (list_chosen(ui->list))
		return chosen_keys;
	if (!item)
		return group_keys;
	switch (item->doing) {
	case DOING_ASKS:
	case DOING_WAITING:
		return waiting_keys;
	case DOING_ERROR:
		return error_keys;
	case DOING_ASLEEP:
	case DOING_STOPPED:
		return stopped_keys;
	default:
		return usual_keys;
	}
}

/* What Esc takes back; NULL: nothing. */
static const char *back_label(const struct ui *ui)
{
	if (ui->many.count && !ui->is_halted)
		return ui->does == ACTION_REMOVE ? "remove no more" : "start no more";
	if (!ui->search && list_chosen(ui->list))
		return "choose none";
	return filter_is_on(ui) ? "show all" : NULL;
}

static void draw_line_keys(const struct ui *ui, size_t row)
{
	const struct line_keys *keys = keys_of_line(ui);
	const char *back = back_label(ui);
	size_t column = back ? draw_action(ui, row, 0, ACTION_BACK, back) : 0;
	if (ui->has_removed && !ui->many.count && ui->message && !ui->is_bad)
		column = draw_action(ui, row, column, ACTION_UNDO, "undo");
	for (size_t i = 0; i < KEYS_MOST && keys[i].label; i++)
		column = draw_action(ui, row, column, keys[i].action,
				     keys[i].action == ACTION_ATTACH && ui_has_diff(ui)
					     ? "show the lines"
					     : keys[i].label);
}

static void draw_keys(const struct ui *ui, size_t row)
{
	size_t column = 0;
	if (ui->mode == MODE_LIST) {
		draw_line_keys(ui, row);
	} else if (ui->mode == MODE_DIALOG) {
		draw_dialog_keys(ui, row);
	} else if (ui->mode == MODE_AGENT) {
		column = draw_action(ui, row, column, ACTION_AGENT_LEAVE, "leave");
		column = draw_action(ui, row, column, ACTION_AGENT_ESCAPE, "sends Esc");
		draw_key(row, column, "any other key", "goes to the agent");
	} else if (ui->mode == MODE_LOOKING) {
		draw_key(row, column, "Esc", "cancel");
	} else if (ui->mode == MODE_HELP) {
		draw_help_keys(ui, row);
	} else if (ui->mode == MODE_LINE && ui->message && !ui->is_bad) {
		/* The line is in the row of the news. */
		term_put(row, 0, term_columns(), TONE_PLAIN, ui->message);
	} else {
		const bool is_pick = ui->mode == MODE_PICK;
		column = draw_action(ui, row, column, ACTION_LINE_ACCEPT,
				     is_pick                 ? "go there"
				     : ui->mode == MODE_LINE ? "do it"
							     : "keep");
		draw_action(ui, row, column, ACTION_LINE_CANCEL, is_pick ? "stay" : "cancel");
	}
}

/* The edge of a box above or below, with a title. */
static void draw_edge(const struct split *box, size_t row, const char *title, bool is_above)
{
	cleanup_strbuf struct strbuf edge = { 0 };
	strbuf_adds(&edge, term_symbol(is_above ? SYMBOL_TOP_LEFT : SYMBOL_BOTTOM_LEFT));
	for (size_t i = 2; i < box->width; i++)
		strbuf_adds(&edge, term_symbol(SYMBOL_RULE));
	strbuf_adds(&edge, term_symbol(is_above ? SYMBOL_TOP_RIGHT : SYMBOL_BOTTOM_RIGHT));
	term_put(row, box->column, box->width, TONE_FAINT, strbuf_text(&edge));
	cleanup_free char *shown = xasprintf(" %s ", title);
	if (*title)
		term_put(row, box->column + 2, box->width - 4, TONE_HEADER, shown);
}

static void draw_dialog_line(const struct split *box, size_t row, const struct dialog_line *line)
{
	static const enum tone tones[] = {
		[PART_TITLE] = TONE_HEADER, [PART_TEXT] = TONE_PLAIN,   [PART_HEADING] = TONE_GROUP,
		[PART_PROMPT] = TONE_KEY,   [PART_CHOICE] = TONE_PLAIN, [PART_LOSS] = TONE_ERROR,
	};
	const bool has_frame = box->column > 0;
	const size_t left = box->column + (has_frame ? 2 : 0);
	const size_t width = box->width - (has_frame ? 4 : 0);
	cleanup_free char *blank = xasprintf("%*s", (int)box->width, "");
	term_put(row, box->column, box->width, TONE_PLAIN, blank);
	term_put(row, left, width, tones[line->part], line->text);
	if (line->is_chosen)
		term_reverse(row, left, width);
	if (!has_frame)
		return;
	term_put(row, box->column, 1, TONE_FAINT, term_symbol(SYMBOL_BAR));
	term_put(row, box->column + box->width - 1, 1, TONE_FAINT, term_symbol(SYMBOL_BAR));
}

/* A box over the list.  False: a small terminal has room for nothing else. */
static bool draw_dialog(struct ui *ui, size_t rows)
{
	cleanup_dialog_page struct dialog_page page = { 0 };
	const size_t columns = term_columns(), room = rows > 1 ? rows - 1 : 1;
	struct split box = { .width = columns };
	if (columns < BOX_FROM || rows < BOX_ROWS) {
		dialog_lay_out(&ui->dialog, columns, room, &page);
		term_erase();
		for (size_t i = 0; i < page.count; i++)
			draw_dialog_line(&box, i, &page.lines[i]);
		return false;
	}
	box.width = columns - 4 < BOX_MOST ? columns - 4 : BOX_MOST;
	box.column = (columns - box.width) / 2;
	/* The title is in the edge above. */
	dialog_lay_out(&ui->dialog, box.width - 4, room - 3, &page);
	box.row = (room - page.count - 1) / 3;
	/* What is left of a row says nothing. */
	if (box.column < MARGIN_LEAST)
		for (size_t i = 0; i <= page.count; i++)
			draw_blank(box.row + i);
	draw_edge(&box, box.row, page.lines[0].text, true);
	for (size_t i = 1; i < page.count; i++)
		draw_dialog_line(&box, box.row + i, &page.lines[i]);
	draw_edge(&box, box.row + page.count, "", false);
	return true;
}

void draw_question(struct ui *ui)
{
	const size_t rows = term_rows();
	(void)draw_dialog(ui, rows);
	draw_blank(rows - 1);
	draw_keys(ui, rows - 1);
}

void draw(struct ui *ui, int64_t now_us)
{
	const size_t rows = term_rows();
	const size_t above = header_rows(), around = above + FOOTER_ROWS;
	const size_t height = rows > around ? rows - around : 1;
	const struct split split = plan_split(ui, height);
	ui->height = ui->mode == MODE_HELP ? height : split.list_height;
	ui->has_usage = false;
	ui->list_row = above;
	ui->list_width = split.list_width;
	term_erase();
	const bool is_form = ui->mode == MODE_FORM ||
			     (ui->mode == MODE_LOOKING && ui->pending == ACTION_NEW);
	if (is_form) {
		draw_form(ui, rows);
		term_show();
		return;
	}
	if (ui->mode == MODE_HELP) {
		draw_help(ui, 1, rows > 2 ? rows - 2 : 1);
	} else {
		ui->has_usage = rows_have_usage(split.list_width);
		if (above > 1 && split.list_height && list_lines(ui->list))
			draw_column_names(ui, 1, split.list_width);
		draw_rows(ui, &(struct rows_place){ above, split.list_height, split.list_width },
			  now_us);
		draw_preview(ui, &split);
	}
	draw_header(ui);
	const bool has_news = ui->mode != MODE_DIALOG || draw_dialog(ui, rows);
	if (rows >= around && has_news && ui->mode != MODE_HELP)
		draw_news(ui, rows - 2, now_us);
	if (rows >= around || !has_news)
		draw_keys(ui, rows - 1);
	term_show();
}
