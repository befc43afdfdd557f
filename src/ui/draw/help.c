/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/help.h"

#include "ui/draw/sign.h"
#include "ui/term/term.h"

#include <string.h>

/* The columns that the keys take, if there is room. */
enum { KEYS_WIDE = 18, KEYS_NARROW = 11 };

/* What a key does.  Keys that no action has are named. */
struct help_entry {
	enum action action;
	const char *keys, *text;
};

/* Lines of help, of which those from top on are drawn. */
struct page {
	size_t row, left, width; /* where the text begins */
	size_t top, height, line;
};

static void put_line(struct page *page, size_t column, size_t width, enum tone tone,
		     const char *text)
{
	if (page->line >= page->top && page->line - page->top < page->height)
		term_put(page->row + page->line - page->top, column, width, tone, text);
}

/* The words of the text in lines of the page's width. */
static void put_words(struct page *page, const char *text)
{
	cleanup_strbuf struct strbuf line = { 0 };
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, " "));) {
		if (line.length &&
		    term_width(strbuf_text(&line)) + 1 + term_width(word) > page->width) {
			put_line(page, page->left, page->width, TONE_PLAIN, strbuf_text(&line));
			page->line++;
			strbuf_free(&line);
		}
		strbuf_addf(&line, "%s%s", line.length ? " " : "", word);
	}
	put_line(page, page->left, page->width, TONE_PLAIN, strbuf_text(&line));
	page->line++;
}

static const struct help_entry mark_entries[] = {
	{ ACTION_NONE, "held", "not restarted automatically" },
	{ ACTION_NONE, "shared", "its conversation belongs to another session" },
	{ ACTION_NONE, "box", "in a container" },
	{ ACTION_NONE, "away", "on another machine" },
	{ ACTION_NONE, "ended", "and it is undecided what becomes of its work" },
	{ ACTION_NONE, "wt", "in its own worktree" },
	{ ACTION_NONE, "clone", "in its own clone, a repository" },
	{ ACTION_NONE, "+", "chosen: the next action is for all of these" },
};

static const struct help_entry session_entries[] = {
	{ ACTION_NONE, "Ctrl-Q", "back to here; the agent goes on" },
	{ ACTION_NONE, "Ctrl-B s", "to another session: a list opens over the agent" },
	{ ACTION_NONE, "Ctrl-B N", "to the next session that waits for you" },
};

static const struct help_entry mouse_entries[] = {
	{ ACTION_NONE, "Click",
	  "goes to a line; on the selected one it attaches, or opens the group" },
	{ ACTION_NONE, "Wheel", "moves in the list, or scrolls the preview" },
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
	{ ACTION_NEXT_WAITING, NULL, "to the session that has waited longest, then the next" },
	{ ACTION_APPROVE, NULL, "show the permission that the agent asks for, and give it" },
	{ ACTION_DENY, NULL, "the same, and refuse it" },
	{ ACTION_HELP, NULL, "this help" },
	{ ACTION_REDRAW, NULL, "draw the screen again" },
	{ ACTION_SUSPEND, NULL, "back to the shell, until fg" },
	{ ACTION_QUIT, NULL, "leave the wall; the sessions keep running" },
};

static const struct help_entry wall_notes[] = {
	{ ACTION_NONE, "Click", "selects a tile, and attaches to the selected one" },
	{ ACTION_NONE, "Wheel", "turns pages" },
	{ ACTION_NONE, "Double line", "the session waits for you, or is in error" },
};

static void put_entry(struct page *page, const struct ui *ui, const struct help_entry *entry)
{
	cleanup_free char *keys = entry->keys ? xstrdup(entry->keys)
					      : keymap_all(&ui->keymap, entry->action);
	put_line(page, 0, page->left - 1, TONE_KEY, keys);
	put_words(page, entry->text);
}

static struct page begin_page(const struct ui *ui, size_t row, size_t height)
{
	const size_t columns = term_columns();
	const size_t left = columns > 2 * (size_t)KEYS_WIDE ? KEYS_WIDE : KEYS_NARROW;
	return (struct page){ .row = row,
			      .left = left,
			      .width = columns > left ? columns - left : 1,
			      .top = ui->help_top,
			      .height = height };
}

static void put_entries(struct page *page, const struct ui *ui, const char *heading,
			const struct help_entry *entries, size_t count)
{
	if (heading) {
		page->line++;
		put_line(page, 0, term_columns(), TONE_GROUP, heading);
		page->line++;
	}
	for (size_t i = 0; i < count; i++)
		put_entry(page, ui, &entries[i]);
}

/* The signs as this terminal draws them. */
static void put_signs(struct page *page, const struct ui *ui)
{
	put_entries(page, ui, "Before the title", NULL, 0);
	for (enum doing doing = 0; doing < DOING_COUNT; doing++)
		put_entry(page, ui,
			  &(struct help_entry){ ACTION_NONE, draw_sign(doing),
						doing_phrase(doing) });
}

/* True: the help has been scrolled too far, and has to be drawn again. */
static bool end_page(const struct page *page, struct ui *ui)
{
	const size_t last = page->line > page->height ? page->line - page->height : 0;
	if (ui->help_top <= last)
		return false;
	ui->help_top = last;
	term_erase();
	return true;
}

/* The actions whose names begin so; NULL: those of the list, whose names have no dot. */
static void put_actions(struct page *page, const struct ui *ui, const char *prefix)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		if (prefix ? starts_with(info->name, prefix) : !strchr(info->name, '.'))
			put_entry(page, ui,
				  &(struct help_entry){ (enum action)i, NULL, info->help });
	}
}

/* Where the keys differ from those of the list. */
static void put_places(struct page *page, const struct ui *ui)
{
	static const struct {
		const char *heading, *prefix;
	} places[] = {
		{ "In a question (Enter and Esc always work)", "question." },
		{ "In a line that you type", "line." },
		{ "While you type a search", "search." },
		{ "In the form for a new session", "form." },
		{ "While you type for an agent (it gets all other keys)", "agent." },
	};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		put_entries(page, ui, places[i].heading, NULL, 0);
		put_actions(page, ui, places[i].prefix);
	}
}

void draw_help(struct ui *ui, size_t row, size_t height)
{
	struct page page;
	do {
		page = begin_page(ui, row, height);
		put_actions(&page, ui, NULL);
		put_entries(&page, ui, NULL, mouse_entries, ARRAY_SIZE(mouse_entries));
		put_entries(&page, ui, "In a session", session_entries,
			    ARRAY_SIZE(session_entries));
		put_places(&page, ui);
		put_signs(&page, ui);
		put_entries(&page, ui, "Before the agent", mark_entries, ARRAY_SIZE(mark_entries));
		page.line++;
		page.left = 0;
		page.width = term_columns();
		put_words(&page, "Behind the status: since when. A wide list also shows the "
				 "age, memory and processor.");
	} while (end_page(&page, ui));
}

void draw_wall_help(struct ui *ui, size_t row, size_t height)
{
	struct page page;
	do {
		page = begin_page(ui, row, height);
		put_entries(&page, ui, NULL, wall_entries, ARRAY_SIZE(wall_entries));
		put_entries(&page, ui, NULL, wall_notes, ARRAY_SIZE(wall_notes));
		put_signs(&page, ui);
	} while (end_page(&page, ui));
}
