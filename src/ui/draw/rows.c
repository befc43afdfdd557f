/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/rows.h"

#include "base/clock.h"
#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

enum {
	WIDTH_STATUS = 8,
	WIDTH_SINCE = 6,
	WIDTH_AGENT_MOST = 12,
	WIDTH_MARKS_MOST = 14,
	WIDTH_AGE = 3,
	WIDTH_USAGE = 5,
	USAGE_FROM = 96, /* the width of a list that shows what the sessions use */
	WIDTH_TITLE_MIN = 20,
	GAP = 1,
};

/* ---- texts ------------------------------------------------------------------------------------ */

/* " 412M", " 1.2G"; "" if it is unknown. */
static const char *memory_text(int64_t bytes, char *buffer, size_t size)
{
	const double mebibytes = (double)bytes / 1024 / 1024;
	*buffer = '\0';
	if (bytes >= 0 && mebibytes < 999.5)
		(void)snprintf(buffer, size, "%4.0fM", mebibytes);
	else if (bytes >= 0)
		(void)snprintf(buffer, size, "%4.1fG", mebibytes / 1024);
	return buffer;
}

/* " 3.1%", " 110%"; "" if it is unknown. */
static const char *cpu_text(int64_t hundredths, char *buffer, size_t size)
{
	const double percent = (double)hundredths / 100;
	*buffer = '\0';
	if (hundredths >= 0)
		(void)snprintf(buffer, size, percent < 99.95 ? "%4.1f%%" : "%4.0f%%", percent);
	return buffer;
}

/* Where the columns begin; a width of 0: left out. */
struct columns {
	size_t title, marks, agent, status, since, age, memory, cpu; /* widths */
	size_t total;
	bool has_groups; /* behind the titles: the lines are in none */
};

/* Take room for a column with this width, unless too little is left for titles.  Returns the width,
 * or 0. */
static size_t take(size_t *used, size_t width, size_t total)
{
	if (total < *used + width + GAP + WIDTH_TITLE_MIN)
		return 0;
	*used += width + GAP;
	return width;
}

static size_t between(size_t least, size_t width, size_t most)
{
	return width < least ? least : width < most ? width : most;
}

/* Columns are as wide as what is in them, so that titles get the rest. */
static struct columns plan_columns(const struct ui *ui, size_t width)
{
	const struct list_widths widest = list_widths(ui->list);
	size_t used = WIDTH_STATUS + GAP;
	struct columns columns = { .status = WIDTH_STATUS,
				   .total = width,
				   .has_groups = list_order(ui->list) == ORDER_URGENCY };
	columns.since = take(&used, WIDTH_SINCE, width);
	columns.agent = take(&used, between(strlen("AGENT"), widest.agent, WIDTH_AGENT_MOST),
			     width);
	if (widest.marks)
		columns.marks = take(
			&used, between(strlen("PLACE"), widest.marks, WIDTH_MARKS_MOST), width);
	if (width >= USAGE_FROM) {
		columns.age = WIDTH_AGE;
		columns.memory = columns.cpu = WIDTH_USAGE;
		used += WIDTH_AGE + 2 * WIDTH_USAGE + 3 * GAP;
	}
	columns.title = width > used ? width - used : 1;
	return columns;
}

bool rows_have_usage(size_t width)
{
	return width >= USAGE_FROM;
}

static void put_cell(size_t row, size_t *column, size_t width, enum tone tone, const char *text)
{
	if (width == 0)
		return;
	term_put(row, *column, width, tone, text);
	*column += width + GAP;
}

/* Where the words of a search are: those in the title are underlined, and from behind on is why
 * others count.  used: the columns up to the end of the title, of those that it may have. */
static void draw_hits(const struct ui *ui, size_t row, const struct item *item, size_t used,
		      size_t behind, size_t total)
{
	const struct strvec *words = list_words(ui->list);
	const size_t begin = used - term_width(item->title);
	cleanup_strbuf struct strbuf why = { 0 };
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i], *at = strcasestr(item->title, word);
		if (!at) {
			const bool is_reply = item->replied >> i & 1;
			const bool is_seen = strcasestr(item->path, word) ||
					     strcasestr(item->agent, word);
			if (is_reply || (!is_seen && strcasestr(item->directory, word)))
				strbuf_addf(&why, "%s%s: %s", why.length ? ", " : "",
					    is_reply ? "in its reply" : "in its directory", word);
			continue;
		}
		cleanup_free char *before = xstrndup(item->title, (size_t)(at - item->title));
		const size_t from = begin + term_width(before);
		const size_t width = term_width(word), room = from < total ? total - from : 0;
		term_underline(row, from, width < room ? width : room);
	}
	if (why.length && behind < total)
		term_put(row, behind, total - behind, TONE_FAINT, strbuf_text(&why));
}

static void draw_session(const struct ui *ui, size_t row, const struct columns *columns,
			 const struct line *line, int64_t now_us)
{
	const struct item *item = line->item;
	char marks[MARKS_TEXT_SIZE], text[CLOCK_TEXT_SIZE];
	const bool is_pinned = item->marks & MARK_PINNED;
	cleanup_free char *title = xasprintf("%*s%s%s %s%s%s", (int)(2 * line->depth), "",
					     item->is_chosen ? "+" : " ", draw_sign(item->doing),
					     is_pinned ? draw_pin() : "", is_pinned ? " " : "",
					     item->title);
	const enum tone tone = item->is_away ? TONE_FAINT : doing_tone(item->doing);
	size_t column = 0;
	put_cell(row, &column, columns->title, tone == TONE_FAINT ? TONE_FAINT : TONE_PLAIN, title);
	/* The sign has the colour of the state. */
	if (columns->title > 2 * line->depth + 2)
		term_put(row, 2 * line->depth + 1, 1, tone, draw_sign(item->doing));
	/* Away from its group, it says which that is. */
	const bool has_path = (line->is_pinned || columns->has_groups) && *item->path;
	cleanup_free char *behind = xasprintf("%s%s%s", has_path ? item->path : "",
					      has_path && *item->tags ? "  " : "", item->tags);
	size_t used = term_width(title) + 2 * GAP;
	if (*behind && used < columns->title) {
		term_put(row, used, columns->title - used, TONE_FAINT, behind);
		used += term_width(behind) + 2 * GAP;
	}
	draw_hits(ui, row, item, term_width(title), used, columns->title);
	put_cell(row, &column, columns->marks, item->is_away ? TONE_FAINT : TONE_WARNING,
		 marks_text(item->marks, marks));
	put_cell(row, &column, columns->agent, TONE_FAINT, item->agent);
	put_cell(row, &column, columns->status, tone, doing_name(item->doing));
	put_cell(row, &column, columns->since, TONE_FAINT,
		 clock_moment(item->since_us, now_us, text));
	put_cell(row, &column, columns->age, TONE_FAINT, clock_age(item->created_us, now_us, text));
	put_cell(row, &column, columns->memory, TONE_PLAIN,
		 memory_text(item->memory, text, sizeof(text)));
	put_cell(row, &column, columns->cpu, TONE_PLAIN, cpu_text(item->cpu, text, sizeof(text)));
}

/* How many do what, by their signs in their colours, at the end of the row: "2? 1! 7o".  Those who
 * ask and those who wait have one sign. */
static void draw_counts(size_t row, size_t from, size_t width, const size_t doing[DOING_COUNT])
{
	size_t column = width;
	for (size_t i = DOING_COUNT; i-- > DOING_WAITING;) {
		char text[32];
		const size_t count = doing[i] + (i == DOING_WAITING ? doing[DOING_ASKS] : 0);
		if (!count)
			continue;
		(void)snprintf(text, sizeof(text), "%zu%s", count, draw_sign((enum doing)i));
		const size_t length = term_width(text);
		if (column < from + length + GAP)
			return;
		column -= length;
		term_put(row, column, length, doing_tone((enum doing)i), text);
		column -= GAP;
	}
}

/* How a host answers, at the end of its row. */
static void draw_condition(const struct list_host *host, size_t row, size_t from, size_t width,
			   int64_t now_us)
{
	char since[CLOCK_TEXT_SIZE];
	static const char *const words[] = { [HOST_ASKED] = "connecting ...",
					     [HOST_AWAY] = "unreachable",
					     [HOST_REFUSES] = "cannot be listed" };
	const char *word = words[host->condition];
	if (!word)
		return;
	(void)clock_moment(host->since_us, now_us, since);
	cleanup_free char *text = xasprintf("%s%s%s", word, *since ? " since " : "", since);
	const size_t length = term_width(text), room = width > from + GAP ? width - from - GAP : 0;
	term_put(row, length < room ? width - length : from + GAP, room,
		 host->condition == HOST_ASKED ? TONE_FAINT : TONE_WARNING, text);
}

static void draw_group(const struct ui *ui, size_t row, const struct columns *columns,
		       const struct line *line, int64_t now_us)
{
	const struct list_host *host = list_host_of(ui->list, line);

	const int length = (int)(line->path_length - line->name_start);
	cleanup_free char *text = xasprintf("%*s%s %.*s", (int)(2 * line->depth), "",
					    term_symbol(line->is_collapsed ? SYMBOL_CLOSED
									   : SYMBOL_OPEN),
					    length, line->item->path + line->name_start);
	const bool is_grey = line->item->is_away || (host && host->condition == HOST_AWAY);
	const size_t used = term_put(row, 0, columns->total, is_grey ? TONE_FAINT : TONE_GROUP,
				     text);
	draw_counts(row, used, columns->total, line->doing);
	if (host)
		draw_condition(host, row, used, columns->total, now_us);
}

static void draw_stopped(size_t row, const struct columns *columns, const struct line *line)
{
	cleanup_free char *text = xasprintf(
		"%*s %s %zu stopped", (int)(2 * line->depth), "",
		term_symbol(line->is_collapsed ? SYMBOL_CLOSED : SYMBOL_OPEN), line->sessions);
	term_put(row, 0, columns->total, TONE_FAINT, text);
}

static void draw_heading(size_t row, const struct columns *columns, const struct line *line)
{
	const bool needs_you = line->heading == HEADING_NEEDS_YOU;
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_addf(&text, "%s %s (%zu) ", term_symbol(SYMBOL_RULE),
		    needs_you ? "needs you" : "all", line->sessions);
	for (size_t used = term_width(strbuf_text(&text)); used < columns->total; used++)
		strbuf_adds(&text, term_symbol(SYMBOL_RULE));
	term_put(row, 0, columns->total, needs_you ? TONE_WAITING : TONE_FAINT, strbuf_text(&text));
}

void draw_column_names(const struct ui *ui, size_t row, size_t width)
{
	const struct columns columns = plan_columns(ui, width);
	size_t column = 0;
	put_cell(row, &column, columns.title, TONE_FAINT, "   TITLE");
	put_cell(row, &column, columns.marks, TONE_FAINT, "PLACE");
	put_cell(row, &column, columns.agent, TONE_FAINT, "AGENT");
	put_cell(row, &column, columns.status, TONE_FAINT, "STATUS");
	put_cell(row, &column, columns.since, TONE_FAINT, "SINCE");
	put_cell(row, &column, columns.age, TONE_FAINT, "AGE");
	put_cell(row, &column, columns.memory, TONE_FAINT, "  MEM");
	put_cell(row, &column, columns.cpu, TONE_FAINT, "  CPU");
}

/* Returns the row behind. */
static size_t put_paragraph(size_t row, size_t column, size_t width, const char *text)
{
	while (*text) {
		const size_t length = dialog_fitting(text, width);
		cleanup_free char *line = xstrndup(text, length);
		term_put(row++, column, width, TONE_PLAIN, line);
		text += length;
		text += *text == ' ';
	}
	return row;
}

/* What makes the first sessions. */
static void draw_welcome(const struct ui *ui, const struct rows_place *place)
{
	enum { LEFT = 3, LABEL = 28, ROWS_FOR_ALL = 12 };
	const size_t width = place->width > LEFT ? place->width - LEFT : 1;
	const bool is_tall = place->height >= ROWS_FOR_ALL;
	size_t row = place->row + is_tall;
	if (is_tall)
		row = 1 +
		      put_paragraph(row, LEFT, width < 78 ? width : 78,
				    "Nothing runs yet. agentdeck keeps coding agents alive, and "
				    "brings each one back to its conversation after a logout, a "
				    "crash or a reboot.");
	for (size_t i = 0; i < OFFER_COUNT; i++, row++) {
		const char *detail = ui->welcome.details[i];
		const char *label = welcome_label((enum welcome_row)i);
		if (!detail)
			detail = i == OFFER_DEMO ? "a demo session" : "looking ...";
		term_put(row, LEFT, width, TONE_KEY, label);
		if (width > LABEL)
			term_put(row, LEFT + LABEL, width - LABEL, TONE_FAINT, detail);
		if (i == ui->welcome.at)
			term_reverse(row, 0, place->width);
	}
	if (is_tall)
		term_put(row + 1, LEFT, width, TONE_PLAIN,
			 "In a session, Ctrl-Q comes back to here, and its agent continues.");
}

static void draw_empty(const struct ui *ui, const struct rows_place *place)
{
	char name[KEYMAP_TEXT_SIZE];
	const bool is_pick = ui->mode == MODE_PICK;
	if (!is_pick && ui_is_empty(ui)) {
		draw_welcome(ui, place);
		return;
	}
	(void)keymap_text(&ui->keymap, is_pick ? ACTION_LINE_CANCEL : ACTION_BACK, name);
	cleanup_free char *text = xasprintf(is_pick ? "No session matches. %s leaves this list."
						    : "No session matches. %s shows all again.",
					    name);
	term_put(place->row, 0, place->width, TONE_PLAIN, text);
}

static void draw_line(const struct ui *ui, size_t row, const struct columns *columns,
		      const struct line *line, int64_t now_us)
{
	switch (line->kind) {
	case LINE_GROUP:
		draw_group(ui, row, columns, line, now_us);
		break;
	case LINE_STOPPED:
		draw_stopped(row, columns, line);
		break;
	case LINE_HEADING:
		draw_heading(row, columns, line);
		break;
	case LINE_SESSION:
		draw_session(ui, row, columns, line, now_us);
		break;
	}
}

void draw_rows(const struct ui *ui, const struct rows_place *place, int64_t now_us)
{
	const size_t count = list_lines(ui->list);
	const struct columns columns = plan_columns(ui, place->width);
	const size_t top = list_top(ui->list, place->height);
	if (count == 0)
		draw_empty(ui, place);
	for (size_t i = 0; i < place->height && top + i < count; i++) {
		draw_line(ui, place->row + i, &columns, list_line(ui->list, top + i), now_us);
		if (top + i == list_cursor(ui->list))
			term_reverse(place->row + i, 0, place->width);
	}
}
