/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/wall.h"

#include "ui/draw/draw.h"
#include "ui/draw/help.h"
#include "ui/draw/sign.h"
#include "ui/term/term.h"

enum { FOOTER_ROWS = 1, SCOPE_FROM = 60 };

/* "? api: waiting ====": the sign, the word and the line tell it without colours, too. */
static void draw_title(const struct rectangle *at, const struct item *item, bool is_selected)
{
	const bool waits = doing_needs_user(item->doing);
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_addf(&text, "%s%s %s: %s ", is_selected ? ">" : " ", draw_sign(item->doing),
		    item->title, doing_name(item->doing));
	for (size_t width = term_width(strbuf_text(&text)); width < at->width; width++)
		strbuf_adds(&text, term_symbol(waits ? SYMBOL_DOUBLE_RULE : SYMBOL_RULE));
	term_put(at->row, at->column, at->width, doing_tone(item->doing), strbuf_text(&text));
	if (is_selected)
		term_reverse(at->row, at->column, at->width);
}

/* The end of a screen is what matters. */
static void draw_screen(const struct rectangle *at, const struct painting *painting)
{
	const size_t room = at->height - 1, count = painting->count;
	const size_t first = count > room ? count - room : 0;
	for (size_t i = 0; i < room && first + i < count; i++)
		draw_painted(at->row + 1 + i, at->column, at->width, &painting->lines[first + i]);
}

static void draw_tile(const struct wall *wall, const struct list *list, size_t index)
{
	const char *id = wall->ids.items[index];
	const struct item *item = list_find(list, id);
	const struct painting *painting = wall_screen(wall, id);
	struct rectangle at = tiles_rectangle(&wall->tiles, index);
	if (!item || at.width == 0 || at.height == 0)
		return;
	if (at.column + at.width < wall->tiles.width && at.width > 1) {
		at.width--;
		for (size_t i = 0; i < at.height; i++)
			term_put(at.row + i, at.column + at.width, 1, TONE_FAINT,
				 term_symbol(SYMBOL_BAR));
	}
	draw_title(&at, item, index == wall->selected);
	if (painting)
		draw_screen(&at, painting);
	else if (at.height > 1)
		term_put(at.row + 1, at.column, at.width, TONE_FAINT, item->reason);
}

static size_t draw_moves(const struct ui *ui, size_t row, size_t column)
{
	static const enum action moves[] = { ACTION_UP, ACTION_DOWN, ACTION_COLLAPSE, ACTION_OPEN };
	char name[KEYMAP_TEXT_SIZE];
	cleanup_strbuf struct strbuf keys = { 0 };
	bool is_own = false;
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		is_own |= ui->keymap.keys[moves[i]][0] != action_info(moves[i])->keys[0];
		strbuf_addf(&keys, "%s%s", i ? ", " : "", keymap_text(&ui->keymap, moves[i], name));
	}
	return draw_key(row, column, is_own ? strbuf_text(&keys) : "Arrows", "choose");
}

static void draw_footer(const struct wall *wall, const struct ui *ui, size_t row)
{
	static const struct {
		enum action action;
		const char *label;
	} keys[] = {
		{ ACTION_APPROVE, "approve" }, { ACTION_DENY, "deny" },
		{ ACTION_QUIT, "leave" },      { ACTION_HELP, "help" },
		{ ACTION_ATTACH, "attach" },   { ACTION_NEXT_WAITING, "next" },
	};
	const size_t width = term_columns();
	const struct list_counts counts = list_counts(ui->list);
	const size_t waiting = counts.doing[DOING_ASKS] + counts.doing[DOING_WAITING];
	const struct item *item = list_selected(ui->list);
	const bool waits = item && doing_waits(item->doing);
	cleanup_strbuf struct strbuf text = { 0 };
	if (ui->mode == MODE_LOOKING || ui->message) {
		const enum tone tone = ui->mode == MODE_LOOKING ? TONE_WARNING
				       : ui->is_bad             ? TONE_ERROR
								: TONE_PLAIN;
		term_put(row, 0, width, tone,
			 ui->mode == MODE_LOOKING ? ui->question : ui->message);
		return;
	}
	if (width >= SCOPE_FROM)
		strbuf_addf(&text, "%s  ", wall->scope ? wall->scope : "All that run");
	if (wall->tiles.pages > 1)
		strbuf_addf(&text, "Page %zu of %zu  ",
			    tiles_page(&wall->tiles, wall->selected) + 1, wall->tiles.pages);
	if (waiting)
		strbuf_addf(&text, "%s %zu %s  ", draw_sign(DOING_WAITING), waiting,
			    doing_name(DOING_WAITING));
	size_t column = term_put(row, 0, width, waiting ? TONE_WAITING : TONE_PLAIN,
				 strbuf_text(&text));
	for (size_t i = waits ? 0 : 2; i < ARRAY_SIZE(keys); i++)
		column = draw_action(ui, row, column, keys[i].action, keys[i].label);
	draw_moves(ui, row, column);
}

size_t draw_wall_height(void)
{
	const size_t rows = term_rows();
	return rows > FOOTER_ROWS ? rows - FOOTER_ROWS : rows;
}

static void draw_tiles(struct wall *wall, struct ui *ui)
{
	size_t first;
	wall_settle(wall, ui->list, term_columns(), draw_wall_height());
	const size_t count = wall_page(wall, &first);
	for (size_t i = first; i < first + count; i++)
		draw_tile(wall, ui->list, i);
	if (wall->ids.count == 0)
		term_put(0, 0, term_columns(), TONE_PLAIN,
			 "No session runs here. The wall shows one as soon as it starts.");
	if (term_rows() > FOOTER_ROWS)
		draw_footer(wall, ui, term_rows() - 1);
}

void draw_wall(struct wall *wall, struct ui *ui)
{
	term_erase();
	if (ui->mode == MODE_HELP) {
		ui->height = draw_wall_height();
		draw_wall_help(ui, 0, ui->height);
		if (term_rows() > FOOTER_ROWS)
			draw_help_keys(ui, term_rows() - 1);
	} else {
		draw_tiles(wall, ui);
		if (ui->mode == MODE_DIALOG)
			draw_question(ui);
	}
	term_show();
}
