/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/help.h"

#include "ui/term/term.h"

#include <string.h>

/* The columns that the keys take, if there is room. */
enum { KEYS_WIDE = 18, KEYS_NARROW = 11 };

/* What a key does.  Keys that no action has are named. */
struct help_entry {
	enum action action;
	const char *keys, *text;
};

static void add_keys(struct strbuf *text, const key_code keys[ACTION_KEYS])
{
	char name[KEY_TEXT_SIZE];
	for (size_t i = 0; i < ACTION_KEYS && keys[i] != KEY_CODE_NONE; i++)
		strbuf_addf(text, "%s%s", i ? ", " : "", key_text(keys[i], name));
}

/* Lines of help, of which those from top on are drawn. */
struct page {
	size_t row, left, width; /* where the text begins */
	size_t top, height, line;
};

static void put_line(struct page *page, size_t column, size_t width, enum role role,
		     const char *text)
{
	if (page->line >= page->top && page->line - page->top < page->height)
		term_put(page->row + page->line - page->top, column, width, role, text);
}

/* The words of the text in lines of the page's width. */
static void put_words(struct page *page, const char *text)
{
	cleanup_strbuf struct strbuf line = { 0 };
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, " "));) {
		if (line.length && line.length + 1 + strlen(word) > page->width) {
			put_line(page, page->left, page->width, ROLE_PLAIN, strbuf_text(&line));
			page->line++;
			strbuf_free(&line);
		}
		strbuf_addf(&line, "%s%s", line.length ? " " : "", word);
	}
	put_line(page, page->left, page->width, ROLE_PLAIN, strbuf_text(&line));
	page->line++;
}

static const char *const list_notes[] = {
	"? waits for you   ! error   ~ does not answer   * busy   = idle   . stopped",
	"H held: not restarted automatically   S shares a conversation",
	"C in a container   M on another machine   U ended, and undecided what becomes of its work",
	"W in its own worktree   R in its own clone, a repository",
	"Behind the status: since when, and on a wide terminal its age, memory and processor",
};

static const struct help_entry wall_entries[] = {
	{ ACTION_UP, NULL, "one tile up" },
	{ ACTION_DOWN, NULL, "one tile down" },
	{ ACTION_NONE, "Left, h", "one tile to the left" },
	{ ACTION_NONE, "Right, l", "one tile to the right" },
	{ ACTION_NONE, "Tab, Back-Tab", "the next or the previous tile" },
	{ ACTION_PAGE_UP, NULL, "one page back" },
	{ ACTION_PAGE_DOWN, NULL, "one page forward" },
	{ ACTION_FIRST, NULL, "to the first tile" },
	{ ACTION_LAST, NULL, "to the last tile" },
	{ ACTION_ATTACH, NULL, "attach to the session" },
	{ ACTION_NEXT_WAITING, NULL, "to the session that has waited longest, then the next" },
	{ ACTION_HELP, NULL, "this help" },
	{ ACTION_REDRAW, NULL, "draw the screen again" },
	{ ACTION_SUSPEND, NULL, "back to the shell, until fg" },
	{ ACTION_QUIT, NULL, "leave the wall; the sessions keep running" },
};

static const char *const wall_notes[] = {
	"? waits for you, with a double line   ! error   ~ does not answer   * busy   = idle   "
	". stopped",
	"A click selects a tile; a click on the selected tile attaches.  The wheel turns pages.",
};

static void put_entry(struct page *page, const struct ui *ui, const struct help_entry *entry)
{
	cleanup_strbuf struct strbuf keys = { 0 };
	if (entry->keys)
		strbuf_adds(&keys, entry->keys);
	else
		add_keys(&keys, ui->keymap.keys[entry->action]);
	put_line(page, 0, page->left - 1, ROLE_KEY, strbuf_text(&keys));
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

/* True: the help has been scrolled too far, and has to be drawn again. */
static bool end_page(struct page *page, struct ui *ui, const char *const *notes, size_t count)
{
	page->left = 0;
	page->width = term_columns();
	page->line++;
	for (size_t i = 0; i < count; i++)
		put_words(page, notes[i]);
	const size_t last = page->line > page->height ? page->line - page->height : 0;
	if (ui->help_top <= last)
		return false;
	ui->help_top = last;
	term_erase();
	return true;
}

void draw_help(struct ui *ui, size_t row, size_t height)
{
	struct page page;
	do {
		page = begin_page(ui, row, height);
		for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
			put_entry(&page, ui,
				  &(struct help_entry){ (enum action)i, NULL,
							action_info((enum action)i)->help });
	} while (end_page(&page, ui, list_notes, ARRAY_SIZE(list_notes)));
}

void draw_wall_help(struct ui *ui, size_t row, size_t height)
{
	struct page page;
	do {
		page = begin_page(ui, row, height);
		for (size_t i = 0; i < ARRAY_SIZE(wall_entries); i++)
			put_entry(&page, ui, &wall_entries[i]);
	} while (end_page(&page, ui, wall_notes, ARRAY_SIZE(wall_notes)));
}
