/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/help.h"

#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

/* A column so wide stands beside another one. */
enum { COLUMN_LEAST = 38, GAP = 2, KEYS_WIDE = 18, KEYS_NARROW = 13 };

/* What a key does.  Keys that no action has are named. */
struct help_entry {
	enum action action;
	const char *keys, *text;
};

/* ---- lines ------------------------------------------------------------------------------------ */

/* A line of a column: a heading, or a row of an entry. */
struct help_line {
	char *keys; /* NULL: a heading */
	char *text;
};

struct help {
	const struct ui *ui;
	size_t left, width; /* of the keys, and of the text */
	struct help_line *lines;
	size_t count;
	const char *heading; /* of what follows, until a line of that is there */
};

static void help_free(struct help *help)
{
	for (size_t i = 0; i < help->count; i++) {
		free(help->lines[i].keys);
		free(help->lines[i].text);
	}
	free(help->lines);
}

static void add_line(struct help *help, const char *keys, char *text)
{
	help->lines = xreallocarray(help->lines, help->count + 1, sizeof(*help->lines));
	help->lines[help->count++] = (struct help_line){ xstrdup_or_null(keys), text };
}

/* Does the user look for it? */
static bool is_found(const struct help *help, const char *keys, const char *text)
{
	const char *find = or_empty(help->ui->help_find);
	return strcasestr(text, find) || strcasestr(keys, find) ||
	       strcasestr(or_empty(help->heading), find);
}

static void add_text(struct help *help, const char *keys, const char *text)
{
	if (!is_found(help, keys, text))
		return;
	if (help->heading && help->count)
		add_line(help, "", xstrdup(""));
	if (help->heading)
		add_line(help, NULL, xstrdup(help->heading));
	help->heading = NULL;
	do {
		const size_t length = dialog_fitting(text, help->width);
		add_line(help, keys, xstrndup(text, length));
		text += length;
		text += *text == ' ';
		keys = "";
	} while (*text);
}

static const struct help_entry mark_entries[] = {
	{ ACTION_NONE, "held", "not restarted by itself" },
	{ ACTION_NONE, "shared", "of another's conversation" },
	{ ACTION_NONE, "box", "in a container" },
	{ ACTION_NONE, "away", "on another machine" },
	{ ACTION_NONE, "ended", "its work is undecided" },
	{ ACTION_NONE, "wt", "in its own worktree" },
	{ ACTION_NONE, "clone", "in its own clone" },
	{ ACTION_NONE, "+", "chosen for the next action" },
};

static const struct help_entry session_entries[] = {
	{ ACTION_NONE, "Ctrl-Q", "back; its agent runs on" },
	{ ACTION_NONE, "Ctrl-B s", "a list of other sessions" },
	{ ACTION_NONE, "Ctrl-B N", "to the next that waits" },
};

static const struct help_entry mouse_entries[] = {
	{ ACTION_NONE, "1-9", "to a group by its number" },
	{ ACTION_NONE, "Click", "selects; once more: Enter" },
	{ ACTION_NONE, "Wheel", "moves, or scrolls" },
};

static const struct help_entry wall_entries[] = {
	{ ACTION_UP, NULL, "one tile up" },
	{ ACTION_DOWN, NULL, "one tile down" },
	{ ACTION_COLLAPSE, NULL, "one tile to the left" },
	{ ACTION_OPEN, NULL, "one tile to the right" },
	{ ACTION_WALL_NEXT, NULL, "to the next tile" },
	{ ACTION_WALL_PREVIOUS, NULL, "to the previous tile" },
	{ ACTION_PAGE_UP, NULL, "one page back" },
	{ ACTION_PAGE_DOWN, NULL, "one page forward" },
	{ ACTION_FIRST, NULL, "to the first tile" },
	{ ACTION_LAST, NULL, "to the last tile" },
	{ ACTION_ATTACH, NULL, "attach to the session" },
	{ ACTION_NEXT_WAITING, NULL, "to the next that waits" },
	{ ACTION_APPROVE, NULL, "show and give a permission" },
	{ ACTION_DENY, NULL, "show and refuse it" },
	{ ACTION_HELP, NULL, "this help" },
	{ ACTION_REDRAW, NULL, "draw the screen again" },
	{ ACTION_SUSPEND, NULL, "to the shell, until fg" },
	{ ACTION_QUIT, NULL, "leave; all keep running" },
};

static const struct help_entry wall_notes[] = {
	{ ACTION_NONE, "Click", "selects; once more: Enter" },
	{ ACTION_NONE, "Wheel", "turns pages" },
	{ ACTION_NONE, "Double line", "it needs you" },
};

static void add_entries(struct help *help, const char *heading, const struct help_entry *entries,
			size_t count)
{
	help->heading = heading;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *keys = entries[i].keys ? xstrdup(entries[i].keys)
							  : keymap_all(&help->ui->keymap,
								       entries[i].action);
		add_text(help, keys, entries[i].text);
	}
}

/* The signs as this terminal draws them. */
static void add_signs(struct help *help)
{
	/* Two states that share a sign have one line; NULL: the line of another has them. */
	static const struct {
		bool is_shared;
		const char *phrase;
	} shared[DOING_COUNT] = {
		[DOING_ASKS] = { true, NULL },
		[DOING_WAITING] = { true, "asks you, or waits" },
		[DOING_IDLE] = { true, "is idle, or not known" },
		[DOING_RUNNING] = { true, NULL },
	};
	help->heading = "Signs";
	for (enum doing doing = 0; doing < DOING_COUNT; doing++) {
		const char *phrase = shared[doing].is_shared ? shared[doing].phrase
							     : doing_phrase(doing);
		if (phrase)
			add_text(help, draw_sign(doing), phrase);
	}
}

/* All from this action on, before another one. */
static void add_actions(struct help *help, const char *heading, enum action first, enum action end)
{
	help->heading = heading;
	for (enum action i = first; i < end; i++) {
		cleanup_free char *keys = keymap_all(&help->ui->keymap, i);
		add_text(help, keys, action_info(i)->help);
	}
}

static void add_all(struct help *help)
{
	static const struct {
		const char *heading;
		enum action first;
	} parts[] = {
		{ "Move", ACTION_UP },
		{ "Talk", ACTION_ATTACH },
		{ "Look", ACTION_SEARCH },
		{ "Manage", ACTION_NEW },
		{ "Many", ACTION_CHOOSE },
		{ "Deck", ACTION_PROFILE },
		/* Where the keys differ from those of the list. */
		{ "While you type for an agent", ACTION_AGENT_LEAVE },
		{ "In a question (also Enter and Esc)", ACTION_QUESTION_NEXT },
		{ "In a line that you type", ACTION_LINE_ACCEPT },
		{ "While you type a search", ACTION_SEARCH_UP },
		{ "In the form for a new session", ACTION_FORM_ACCEPT },
		{ NULL, ACTION_WALL_NEXT },
	};
	add_signs(help);
	for (size_t i = 0; parts[i].heading; i++) {
		add_actions(help, parts[i].heading, parts[i].first, parts[i + 1].first);
		if (parts[i].first != ACTION_PROFILE)
			continue;
		add_entries(help, "In a session", session_entries, ARRAY_SIZE(session_entries));
		add_entries(help, "Mouse, and numbers", mouse_entries, ARRAY_SIZE(mouse_entries));
		add_entries(help, "PLACE", mark_entries, ARRAY_SIZE(mark_entries));
	}
}

/* ---- pages ------------------------------------------------------------------------------------ */

/* How many of the lines from the first one on a column of this height has: no heading at its end. */
static size_t column_lines(const struct help *help, size_t first, size_t height)
{
	height = height ? height : 1;
	size_t end = help->count - first > height ? first + height : help->count;
	if (end < help->count && end > first + 1 && !help->lines[end - 1].keys)
		end--;
	return end - first;
}

/* No column begins with the blank before a heading. */
static size_t without_blank(const struct help *help, size_t first)
{
	return first + (first < help->count && !*help->lines[first].text);
}

static void draw_column(const struct help *help, size_t first, size_t count, size_t row,
			size_t column)
{
	for (size_t i = 0; i < count; i++) {
		const struct help_line *line = &help->lines[first + i];
		const size_t all = help->left + help->width;
		if (!line->keys) {
			term_put(row + i, column, all, TONE_GROUP, line->text);
			continue;
		}
		term_put(row + i, column, help->left - 1, TONE_KEY, line->keys);
		term_put(row + i, column + help->left, help->width, TONE_PLAIN, line->text);
	}
}

/* Draw the page that the user is on, and note how many there are. */
static void draw_pages(struct help *help, struct ui *ui, size_t row, size_t height)
{
	const size_t columns = term_columns() >= 2 * COLUMN_LEAST + GAP ? 2 : 1;
	const size_t across = (term_columns() + GAP) / columns;
	size_t first = 0, shown = 0, page = 0;
	for (; first < help->count; page++) {
		shown = page <= ui->help_page ? first : shown;
		for (size_t i = 0; i < columns; i++) {
			first = without_blank(help, first);
			first += column_lines(help, first, height);
		}
	}
	ui->help_pages = page ? page : 1;
	if (ui->help_page >= ui->help_pages)
		ui->help_page = ui->help_pages - 1;
	for (size_t i = 0; i < columns; i++) {
		shown = without_blank(help, shown);
		const size_t count = column_lines(help, shown, height);
		draw_column(help, shown, count, row, i * across);
		shown += count;
	}
}

static void begin(struct help *help, const struct ui *ui)
{
	const size_t columns = term_columns() >= 2 * COLUMN_LEAST + GAP ? 2 : 1;
	const size_t all = columns > 1 ? (term_columns() + GAP) / columns - GAP : term_columns();
	const size_t left = all > 3 * (size_t)KEYS_WIDE ? KEYS_WIDE : KEYS_NARROW;
	*help = (struct help){ .ui = ui, .left = left, .width = all > left + 8 ? all - left : 8 };
}

void draw_help(struct ui *ui, size_t row, size_t height)
{
	CLEANUP(help_free) struct help help;
	begin(&help, ui);
	add_all(&help);
	draw_pages(&help, ui, row, height);
}

void draw_wall_help(struct ui *ui, size_t row, size_t height)
{
	CLEANUP(help_free) struct help help;
	begin(&help, ui);
	add_entries(&help, "Wall", wall_entries, ARRAY_SIZE(wall_entries));
	add_entries(&help, "Mouse", wall_notes, ARRAY_SIZE(wall_notes));
	add_signs(&help);
	draw_pages(&help, ui, row, height);
}

void draw_help_keys(const struct ui *ui, size_t row)
{
	char up[KEYMAP_TEXT_SIZE], down[KEYMAP_TEXT_SIZE], find[KEYMAP_TEXT_SIZE];
	if (ui->is_finding) {
		const size_t asked = term_put(row, 0, term_columns(), TONE_KEY, "Find: ");
		draw_typed(row, asked, term_columns() - asked, &ui->input);
		return;
	}
	cleanup_free char *page = xasprintf("page %zu of %zu", ui->help_page + 1, ui->help_pages);
	cleanup_free char *keys = xasprintf("%s, %s", keymap_text(&ui->keymap, ACTION_UP, up),
					    keymap_text(&ui->keymap, ACTION_DOWN, down));
	size_t column = draw_key(row, 0, keys, page);
	column = draw_key(row, column, keymap_text(&ui->keymap, ACTION_SEARCH, find), "find");
	draw_key(row, column, "any other key", "back");
}
