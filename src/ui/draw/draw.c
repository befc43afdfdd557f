/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/draw.h"

#include "ui/draw/form.h"
#include "ui/draw/help.h"
#include "ui/draw/preview.h"
#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
	HEADER_ROWS = 1,
	NEWS_ROWS_MOST = 5,
	FOOTER_ROWS = 2, /* the news or a line to type, and the keys */
	WIDTH_STATUS = 8,
	WIDTH_SINCE = 6,
	WIDTH_AGENT = 10,
	WIDTH_MARKS = 5,
	WIDTH_AGE = 3,
	WIDTH_USAGE = 5,
	USAGE_FROM = 96, /* the width of a list that shows what the sessions use */
	WIDTH_TITLE_MIN = 14,
	GAP = 1,
	SIDE_BY_SIDE = 100,
	ONE_BELOW_OTHER = 10,
};

/* ---- texts ------------------------------------------------------------------------------------ */

/* The time of day, or the day: nothing has to be drawn again because time passes. */
static const char *time_text(int64_t then_us, int64_t now_us, char *buffer, size_t size)
{
	const time_t then = then_us / 1000000, now = now_us / 1000000;
	struct tm at, today;
	*buffer = '\0';
	if (then_us <= 0)
		return buffer;
	(void)localtime_r(&then, &at);
	(void)localtime_r(&now, &today);
	const bool is_today = at.tm_yday == today.tm_yday && at.tm_year == today.tm_year;
	const bool is_this_year = now - then < (time_t)300 * 24 * 3600;
	if (strftime(buffer, size, is_today ? "%H:%M" : is_this_year ? "%b %d" : "%Y", &at) == 0)
		*buffer = '\0';
	return buffer;
}

/* In units that change so seldom that no frame is drawn for them: "<1d", "12d", "5w", "2y". */
static const char *age_text(int64_t then_us, int64_t now_us, char *buffer, size_t size)
{
	const int64_t days = then_us > 0 ? (now_us - then_us) / 1000000 / 86400 : -1;
	*buffer = '\0';
	if (then_us > 0 && days < 1)
		(void)snprintf(buffer, size, "<1d");
	else if (days >= 730)
		(void)snprintf(buffer, size, "%" PRId64 "y", days / 365);
	else if (days >= 70)
		(void)snprintf(buffer, size, "%" PRId64 "w", days / 7);
	else if (days >= 1)
		(void)snprintf(buffer, size, "%" PRId64 "d", days);
	return buffer;
}

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

/* A letter for each mark. */
static const char *marks_text(unsigned marks, char buffer[WIDTH_MARKS + 1])
{
	static const struct {
		enum mark mark;
		char letter;
	} letters[] = {
		{ MARK_HELD, 'H' },      { MARK_SHARED, 'S' },    { MARK_CONTAINER, 'C' },
		{ MARK_ELSEWHERE, 'M' }, { MARK_UNDECIDED, 'U' }, { MARK_WORKTREE, 'W' },
		{ MARK_CLONE, 'R' },
	};
	size_t length = 0;
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (marks & letters[i].mark && length < WIDTH_MARKS)
			buffer[length++] = letters[i].letter;
	buffer[length] = '\0';
	return buffer;
}

/* ---- the list --------------------------------------------------------------------------------- */

/* Where the columns begin; a width of 0: left out. */
struct columns {
	size_t title, marks, agent, status, since, age, memory, cpu; /* widths */
	size_t total;
};

static struct columns plan_columns(size_t width)
{
	struct columns columns = { .status = WIDTH_STATUS, .total = width };
	size_t used = WIDTH_STATUS + GAP;
	if (width >= used + WIDTH_SINCE + GAP + WIDTH_TITLE_MIN) {
		columns.since = WIDTH_SINCE;
		used += WIDTH_SINCE + GAP;
	}
	if (width >= used + WIDTH_MARKS + GAP + WIDTH_TITLE_MIN) {
		columns.marks = WIDTH_MARKS;
		used += WIDTH_MARKS + GAP;
	}
	if (width >= used + WIDTH_AGENT + GAP + WIDTH_TITLE_MIN) {
		columns.agent = WIDTH_AGENT;
		used += WIDTH_AGENT + GAP;
	}
	if (width >= USAGE_FROM) {
		columns.age = WIDTH_AGE;
		columns.memory = columns.cpu = WIDTH_USAGE;
		used += WIDTH_AGE + 2 * WIDTH_USAGE + 3 * GAP;
	}
	columns.title = width > used ? width - used : 1;
	return columns;
}

static void put_cell(size_t row, size_t *column, size_t width, enum role role, const char *text)
{
	if (width == 0)
		return;
	term_put(row, *column, width, role, text);
	*column += width + GAP;
}

static void draw_session(size_t row, size_t left, const struct columns *columns,
			 const struct line *line, int64_t now_us)
{
	const struct item *item = line->item;
	char marks[WIDTH_MARKS + 1], since[32], number[32];
	cleanup_free char *title = xasprintf("%*s%s%s %s", (int)(2 * line->depth), "",
					     item->is_chosen ? "+" : " ", draw_sign(item->doing),
					     item->title);
	const enum role role = draw_role(item->doing);
	size_t column = left;
	put_cell(row, &column, columns->title, role == ROLE_FAINT ? ROLE_FAINT : ROLE_PLAIN, title);
	/* The sign has the colour of the state. */
	if (columns->title > 2 * line->depth + 2)
		term_put(row, left + 2 * line->depth + 1, 1, role, draw_sign(item->doing));
	put_cell(row, &column, columns->agent, ROLE_FAINT, item->agent);
	put_cell(row, &column, columns->marks, ROLE_WARNING, marks_text(item->marks, marks));
	put_cell(row, &column, columns->status, role, doing_name(item->doing));
	put_cell(row, &column, columns->since, ROLE_FAINT,
		 time_text(item->since_us, now_us, since, sizeof(since)));
	put_cell(row, &column, columns->age, ROLE_FAINT,
		 age_text(item->created_us, now_us, number, sizeof(number)));
	put_cell(row, &column, columns->memory, ROLE_PLAIN,
		 memory_text(item->memory, number, sizeof(number)));
	put_cell(row, &column, columns->cpu, ROLE_PLAIN,
		 cpu_text(item->cpu, number, sizeof(number)));
}

static void draw_group(size_t row, size_t left, const struct columns *columns,
		       const struct line *line)
{
	const int length = (int)(line->path_length - line->name_start);
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_addf(&text, "%*s%s %.*s (%zu", (int)(2 * line->depth), "",
		    term_symbol(line->is_collapsed ? SYMBOL_CLOSED : SYMBOL_OPEN), length,
		    line->item->group + line->name_start, line->sessions);
	if (line->waiting)
		strbuf_addf(&text, ", %zu waiting", line->waiting);
	if (line->errors)
		strbuf_addf(&text, ", %zu in error", line->errors);
	strbuf_adds(&text, ")");
	term_put(row, left, columns->total, ROLE_GROUP, strbuf_text(&text));
}

static void draw_empty(const struct ui *ui, size_t row, size_t columns)
{
	char name[KEYMAP_TEXT_SIZE];
	const bool is_pick = ui->mode == MODE_PICK, is_hidden = list_counts(ui->list).all > 0;
	cleanup_free char *text = xasprintf(
		is_pick     ? "No session matches. %s leaves this list."
		: is_hidden ? "No session matches. %s shows all again."
			    : "No sessions yet. %s makes one, and so does, in a shell:",
		keymap_text(&ui->keymap,
			    is_pick     ? ACTION_LINE_CANCEL
			    : is_hidden ? ACTION_BACK
					: ACTION_NEW,
			    name));
	term_put(row, 0, columns, ROLE_PLAIN, text);
	if (is_pick || is_hidden)
		return;
	const size_t width = columns > 2 ? columns - 2 : 0;
	term_put(row + 2, 2, width, ROLE_KEY, "agentdeck launch DIRECTORY -t TITLE");
	term_put(row + 4, 0, columns, ROLE_PLAIN,
		 "In a shell, these bring what you have: conversations on disk, other tools.");
	term_put(row + 6, 2, width, ROLE_KEY, "agentdeck discover");
	term_put(row + 7, 2, width, ROLE_KEY, "agentdeck import");
}

static void draw_list(const struct ui *ui, size_t top_row, size_t height, size_t width,
		      int64_t now_us)
{
	const size_t count = list_lines(ui->list);
	const struct columns columns = plan_columns(width);
	const size_t top = list_top(ui->list, height);
	if (count == 0)
		draw_empty(ui, top_row, width);
	for (size_t i = 0; i < height && top + i < count; i++) {
		const struct line *line = list_line(ui->list, top + i);
		if (line->kind == LINE_GROUP)
			draw_group(top_row + i, 0, &columns, line);
		else
			draw_session(top_row + i, 0, &columns, line, now_us);
		if (top + i == list_cursor(ui->list))
			term_reverse(top_row + i, 0, width);
	}
}

/* ---- beside the list ------------------------------------------------------------------------- */

static struct split plan_split(const struct ui *ui, size_t height)
{
	const size_t columns = term_columns();
	struct split split = { .list_width = columns, .list_height = height };
	if (ui->preview.kind == PREVIEW_NONE)
		return split;
	if (columns >= SIDE_BY_SIDE) {
		split.list_width = columns / 2 - 2;
		split.row = HEADER_ROWS;
		split.column = columns / 2 + 1;
		split.width = columns - split.column;
		split.height = height;
	} else {
		/* Where there is no room for both, the list gives way. */
		split.list_height = height >= ONE_BELOW_OTHER ? height / 2 : 0;
		split.row = HEADER_ROWS + split.list_height;
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

static void draw_header(const struct ui *ui)
{
	const struct list_counts counts = list_counts(ui->list);
	const size_t width = term_columns();
	cleanup_free char *waiting = xasprintf("  %zu waiting", counts.waiting);
	cleanup_free char *errors = xasprintf("  %zu in error", counts.errors);
	cleanup_free char *chosen = xasprintf("  %zu chosen", list_chosen(ui->list));
	/* Show whole how many need the user, and shorten the rest. */
	const size_t needed = (counts.waiting ? strlen(waiting) : 0) +
			      (counts.errors ? strlen(errors) : 0) +
			      (list_chosen(ui->list) ? strlen(chosen) : 0);
	cleanup_free char *text = header_text(ui, false);
	if (term_width(text) + needed > width) {
		free(text);
		text = header_text(ui, true);
	}
	size_t column = term_put(0, 0, width, ROLE_HEADER, text);
	if (counts.waiting && column < width)
		column += term_put(0, column, width - column, ROLE_WAITING, waiting);
	if (counts.errors && column < width)
		column += term_put(0, column, width - column, ROLE_ERROR, errors);
	if (list_chosen(ui->list) && column < width)
		term_put(0, column, width - column, ROLE_WARNING, chosen);
}

static size_t character_length(const char *text)
{
	size_t length = *text != '\0';
	while (((unsigned char)text[length] & 0xC0) == 0x80)
		length++;
	return length;
}

/* A question, and the line that is typed behind it.  Its end is what is seen. */
static void draw_input(const struct ui *ui, size_t row, const char *question)
{
	const size_t width = term_columns();
	const size_t asked = term_put(row, 0, width, ROLE_KEY, question);
	const size_t room = width > asked + 1 ? width - asked - 1 : 1;
	cleanup_free char *shown = visible(input_text(&ui->input));
	cleanup_free char *left = xstrndup(input_text(&ui->input), ui->input.cursor);
	cleanup_free char *before = visible(left);
	/* Both begin with the same characters: leave out as many as needed. */
	const char *text = shown, *to_cursor = before;
	while (term_width(to_cursor) >= room) {
		const size_t length = character_length(to_cursor);
		to_cursor += length;
		text += length;
	}
	const size_t at = term_width(to_cursor);
	term_put(row, asked, room, ROLE_PLAIN, text);
	term_cursor(row, asked + at);
}

static bool filter_is_on(const struct ui *ui)
{
	return ui->search || list_only_agent(ui->list) || list_only_group(ui->list) ||
	       list_scope(ui->list) != SCOPE_ALL;
}

/* What hides sessions, as Esc takes it back.  The caller frees. */
static char *filter_text(const struct ui *ui)
{
	const char *agent = list_only_agent(ui->list), *group = list_only_group(ui->list);
	char name[KEYMAP_TEXT_SIZE];
	struct strbuf text = { 0 };
	if (ui->search)
		strbuf_addf(&text, "Search: %s ", ui->search);
	if (list_scope(ui->list) != SCOPE_ALL)
		strbuf_addf(&text, "Only %s ", list_scope_name(list_scope(ui->list)));
	if (agent)
		strbuf_addf(&text, "Only %s ", agent);
	if (group)
		strbuf_addf(&text, "Only group %s ", group);
	strbuf_addf(&text, "(%s shows all)", keymap_text(&ui->keymap, ACTION_BACK, name));
	return strbuf_take(&text);
}

/* What went wrong is read to its end: over the end of the list. */
static void draw_failure(const char *text, size_t row)
{
	const size_t width = term_columns();
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_free char *blank = xasprintf("%*s", (int)width, "");
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
		term_put(here, 0, width, ROLE_PLAIN, blank);
		term_put(here, 0, width, ROLE_ERROR, lines.items[i]);
	}
}

static void draw_news(const struct ui *ui, size_t row)
{
	const size_t width = term_columns();
	if (ui->mode == MODE_SEARCH) {
		draw_input(ui, row, "Search: ");
	} else if (ui->mode == MODE_PICK && !ui->message) {
		draw_input(ui, row, "Go to: ");
	} else if (ui->mode == MODE_LINE) {
		draw_input(ui, row, ui->question);
	} else if (ui->mode == MODE_LOOKING) {
		term_put(row, 0, width, ROLE_WARNING, ui->question);
	} else if (ui->message && ui->is_bad) {
		draw_failure(ui->message, row);
	} else if (ui->message) {
		term_put(row, 0, width, ROLE_PLAIN, ui->message);
	} else if (filter_is_on(ui)) {
		cleanup_free char *text = filter_text(ui);
		term_put(row, 0, width, ROLE_FAINT, text);
	} else {
		const struct item *item = list_selected(ui->list);
		term_put(row, 0, width, ROLE_FAINT,
			 item ? (*item->reason ? item->reason : item->directory) : "");
	}
}

/* The first key of the action; second: and that of another one, or ACTION_NONE. */
static size_t put_keys(const struct ui *ui, size_t row, size_t column, const enum action actions[2],
		       const char *label)
{
	char first[KEYMAP_TEXT_SIZE], second[KEYMAP_TEXT_SIZE];
	(void)keymap_text(&ui->keymap, actions[0], first);
	(void)keymap_text(&ui->keymap, actions[1], second);
	cleanup_free char *keys = xasprintf("%s%s%s", first, actions[1] ? ", " : "",
					    actions[1] ? second : "");
	return draw_key(row, column, keys, label);
}

static size_t put_key(const struct ui *ui, size_t row, size_t column, enum action action,
		      const char *label)
{
	return put_keys(ui, row, column, (const enum action[]){ action, ACTION_NONE }, label);
}

static const enum action up_and_down[] = { ACTION_UP, ACTION_DOWN };

static void draw_dialog_keys(const struct ui *ui, size_t row)
{
	char yes[KEYMAP_TEXT_SIZE], name[KEY_TEXT_SIZE];
	const struct dialog *dialog = &ui->dialog;
	size_t column = draw_key(row, 0, "Enter", dialog->question.choices[dialog->cursor].label);
	if (ui->ask.about == ABOUT_CONFIRM) {
		const key_code key = ui->keymap.keys[ui->pending][0];
		const bool is_one_more = key != KEY_CODE_NONE && ui_confirms(ui, key);
		cleanup_free char *keys = xasprintf(
			"%s%s%s", keymap_text(&ui->keymap, ACTION_QUESTION_YES, yes),
			is_one_more ? " or " : "", is_one_more ? key_text(key, name) : "");
		column = draw_key(row, column, keys, "yes");
	}
	column = draw_key(row, column, "Esc", "cancel");
	if (dialog->scrolls)
		column = put_key(ui, row, column, ACTION_PAGE_DOWN, "scroll");
	if (dialog->question.choice_count > 1)
		put_keys(ui, row, column, up_and_down, "choose");
}

static void draw_keys(const struct ui *ui, size_t row)
{
	/* The first ones are there on a narrow terminal, too. */
	static const enum action shown[] = { ACTION_ATTACH,       ACTION_HELP,   ACTION_QUIT,
					     ACTION_NEXT_WAITING, ACTION_SEARCH, ACTION_SEND,
					     ACTION_NEW };
	size_t column = 0;
	if (ui->mode == MODE_DIALOG) {
		draw_dialog_keys(ui, row);
	} else if (ui->mode == MODE_LOOKING) {
		draw_key(row, column, "Esc", "cancel");
	} else if (ui->mode == MODE_HELP) {
		column = put_keys(ui, row, column, up_and_down, "scroll");
		draw_key(row, column, "any other key", "back");
	} else if (ui->mode == MODE_LINE && ui->message) {
		/* What is wrong with the line: it is in the row of the news. */
		term_put(row, 0, term_columns(), ui->is_bad ? ROLE_ERROR : ROLE_PLAIN, ui->message);
	} else if (ui->mode != MODE_LIST) {
		const bool is_pick = ui->mode == MODE_PICK;
		column = put_key(ui, row, column, ACTION_LINE_ACCEPT,
				 is_pick                 ? "go there"
				 : ui->mode == MODE_LINE ? "do it"
							 : "keep");
		put_key(ui, row, column, ACTION_LINE_CANCEL, is_pick ? "stay" : "cancel");
	}
	for (size_t i = 0; ui->mode == MODE_LIST && i < ARRAY_SIZE(shown); i++)
		if (ui->keymap.keys[shown[i]][0] != KEY_CODE_NONE)
			column = put_key(ui, row, column, shown[i], action_info(shown[i])->label);
}

static void draw_dialog(struct ui *ui, size_t rows)
{
	static const enum role roles[] = {
		[PART_TITLE] = ROLE_HEADER, [PART_TEXT] = ROLE_PLAIN,   [PART_HEADING] = ROLE_GROUP,
		[PART_PROMPT] = ROLE_KEY,   [PART_CHOICE] = ROLE_PLAIN, [PART_LOSS] = ROLE_ERROR,
	};
	cleanup_dialog_page struct dialog_page page = { 0 };
	const size_t width = term_columns();
	dialog_lay_out(&ui->dialog, width, rows > 1 ? rows - 1 : 1, &page);
	for (size_t i = 0; i < page.count; i++) {
		const struct dialog_line *line = &page.lines[i];
		term_put(i, 0, width, roles[line->part], line->text);
		if (line->is_chosen)
			term_reverse(i, 0, width);
	}
	draw_keys(ui, rows - 1);
}

void draw(struct ui *ui, int64_t now_us)
{
	const size_t rows = term_rows();
	const size_t around = HEADER_ROWS + FOOTER_ROWS;
	const size_t height = rows > around ? rows - around : 1;
	const struct split split = plan_split(ui, height);
	ui->height = ui->mode == MODE_HELP ? height : split.list_height;
	ui->has_usage = false;
	ui->list_row = HEADER_ROWS;
	ui->list_width = split.list_width;
	term_erase();
	const bool is_form = ui->mode == MODE_FORM ||
			     (ui->mode == MODE_LOOKING && ui->pending == ACTION_NEW);
	if (ui->mode == MODE_DIALOG || is_form) {
		if (is_form)
			draw_form(ui, rows);
		else
			draw_dialog(ui, rows);
		term_show();
		return;
	}
	if (ui->mode == MODE_HELP) {
		draw_help(ui, HEADER_ROWS, height);
	} else {
		ui->has_usage = plan_columns(split.list_width).memory > 0;
		draw_list(ui, HEADER_ROWS, split.list_height, split.list_width, now_us);
		draw_preview(ui, &split);
	}
	draw_header(ui);
	if (rows >= around) {
		draw_news(ui, rows - 2);
		draw_keys(ui, rows - 1);
	}
	term_show();
}
