/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/wall.h"

#include "ui/state/ui-internal.h"

/* A line for the title and some of the screen; two tiles fit on 80 columns, and on 12 rows. */
enum { LEAST_WIDTH = 36, LEAST_HEIGHT = 5 };

static void screen_free(struct wall_screen *screen)
{
	free(screen->id);
	free(screen->text);
	painting_free(&screen->painting);
}

void wall_free(struct wall *wall)
{
	for (size_t i = 0; i < wall->screen_count; i++)
		screen_free(&wall->screens[i]);
	free(wall->screens);
	strvec_clear(&wall->ids);
	free(wall->scope);
	*wall = (struct wall){ 0 };
}

/* ---- the tiles -------------------------------------------------------------------------------- */

/* Sessions that need the user come first, and those that wait have larger tiles. */
static void read_list(struct wall *wall, struct list *list)
{
	const size_t lines = list_lines(list);
	cleanup_free struct item **needy = xcalloc(lines + 1, sizeof(struct item *));
	cleanup_strvec struct strvec rest = { 0 };
	size_t count = 0;
	wall->waiting = 0;
	for (size_t i = 0; i < lines; i++) {
		const struct line *line = list_line(list, i);
		if (line->kind != LINE_SESSION || line->is_pinned)
			continue;
		wall->waiting += item_waits(line->item);
		if (item_needs_user(line->item))
			needy[count++] = line->item;
		else
			strvec_push(&rest, line->item->id);
	}
	items_sort_by_need(needy, count);
	strvec_clear(&wall->ids);
	for (size_t i = 0; i < count; i++)
		strvec_push(&wall->ids, needy[i]->id);
	strvec_push_all(&wall->ids, &rest);
}

static void select_tile(struct wall *wall, struct list *list, size_t index)
{
	struct item *item = index < wall->ids.count ? list_find(list, wall->ids.items[index])
						    : NULL;
	wall->selected = index;
	if (item)
		(void)list_select(list, item);
}

static void find_selected(struct wall *wall, struct list *list)
{
	const struct item *item = wall->is_begun ? list_selected(list) : NULL;
	for (size_t i = 0; item && i < wall->ids.count; i++) {
		if (streq(wall->ids.items[i], item->id)) {
			wall->selected = i;
			return;
		}
	}
	select_tile(wall, list, 0);
	wall->is_begun = wall->ids.count > 0;
}

bool wall_is_on_page(const struct wall *wall, const char *id)
{
	size_t first;
	const size_t count = wall_page(wall, &first);
	for (size_t i = first; i < first + count; i++)
		if (streq(wall->ids.items[i], id))
			return true;
	return false;
}

static void forget_others(struct wall *wall)
{
	size_t kept = 0;
	for (size_t i = 0; i < wall->screen_count; i++) {
		if (wall_is_on_page(wall, wall->screens[i].id))
			wall->screens[kept++] = wall->screens[i];
		else
			screen_free(&wall->screens[i]);
	}
	wall->screen_count = kept;
}

void wall_settle(struct wall *wall, struct list *list, size_t width, size_t height)
{
	read_list(wall, list);
	find_selected(wall, list);
	wall->tiles = tiles_plan(&(struct tiles_order){ wall->ids.count, wall->waiting, width,
							height, LEAST_WIDTH, LEAST_HEIGHT });
	forget_others(wall);
}

size_t wall_page(const struct wall *wall, size_t *ret_first)
{
	const size_t size = wall->tiles.per_page;
	*ret_first = wall->ids.count ? wall->selected / size * size : 0;
	const size_t left = wall->ids.count - *ret_first;
	return left < size ? left : size;
}

/* ---- the screens ------------------------------------------------------------------------------ */

static struct wall_screen *find_screen(const struct wall *wall, const char *id)
{
	for (size_t i = 0; i < wall->screen_count; i++)
		if (streq(wall->screens[i].id, id))
			return &wall->screens[i];
	return NULL;
}

bool wall_set_screen(struct wall *wall, const char *id, const char *text)
{
	struct wall_screen *screen = find_screen(wall, id);
	if (screen && streq(screen->text, text))
		return false;
	if (!screen) {
		wall->screens = xreallocarray(wall->screens, wall->screen_count + 1,
					      sizeof(*wall->screens));
		screen = &wall->screens[wall->screen_count++];
		*screen = (struct wall_screen){ .id = xstrdup(id) };
	}
	replace_string(&screen->text, text);
	painting_free(&screen->painting);
	paint_parse(text, &screen->painting);
	return true;
}

const struct painting *wall_screen(const struct wall *wall, const char *id)
{
	const struct wall_screen *screen = find_screen(wall, id);
	return screen ? &screen->painting : NULL;
}

/* ---- keys ------------------------------------------------------------------------------------- */

/* To the same place of another page, or its last tile. */
static void turn_page(struct wall *wall, struct list *list, bool is_down)
{
	const size_t size = wall->tiles.per_page, last = wall->ids.count - 1;
	size_t to = wall->selected;
	if (!is_down)
		to = to >= size ? to - size : to;
	else if (tiles_page(&wall->tiles, to) < tiles_page(&wall->tiles, last))
		to = to + size < last ? to + size : last;
	select_tile(wall, list, to);
}

static void attach(const struct wall *wall, struct wish *ret)
{
	ret->kind = WISH_ATTACH;
	strvec_push(&ret->words, wall->ids.items[wall->selected]);
}

/* False: that was not the wheel. */
static bool wheel_moves(struct wall *wall, struct list *list, key_code key)
{
	if (key != KEY_CODE_WHEEL_UP && key != KEY_CODE_WHEEL_DOWN)
		return false;
	turn_page(wall, list, key == KEY_CODE_WHEEL_DOWN);
	return true;
}

static void act(struct wall *wall, struct ui *ui, enum action action, struct wish *ret)
{
	static const enum tiles_way ways[ACTION_COUNT] = {
		[ACTION_UP] = TILES_UP,
		[ACTION_DOWN] = TILES_DOWN,
		[ACTION_COLLAPSE] = TILES_LEFT,
		[ACTION_OPEN] = TILES_RIGHT,
	};
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_COLLAPSE:
	case ACTION_OPEN:
		select_tile(wall, ui->list,
			    tiles_neighbor(&wall->tiles, wall->selected, ways[action]));
		break;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		turn_page(wall, ui->list, action == ACTION_PAGE_DOWN);
		break;
	case ACTION_FIRST:
		select_tile(wall, ui->list, 0);
		break;
	case ACTION_LAST:
		select_tile(wall, ui->list, wall->ids.count - 1);
		break;
	case ACTION_WALL_NEXT:
		select_tile(wall, ui->list, (wall->selected + 1) % wall->ids.count);
		break;
	case ACTION_WALL_PREVIOUS:
		select_tile(wall, ui->list,
			    (wall->selected + wall->ids.count - 1) % wall->ids.count);
		break;
	case ACTION_ATTACH:
		attach(wall, ret);
		break;
	case ACTION_APPROVE:
	case ACTION_DENY:
	case ACTION_NEXT_WAITING:
		ui_act(ui, action, ret);
		break;
	default:
		ui_tell_useless(ui, "");
		break;
	}
}

void wall_key(struct wall *wall, struct ui *ui, key_code key, struct wish *ret)
{
	const enum action action = keymap_action(&ui->keymap, CONTEXT_WALL, key);
	if (ui->mode != MODE_LIST) {
		ui_key(ui, key, ret);
		return;
	}
	free(TAKE_PTR(ui->message));
	if (key == KEY_CODE_PASTE || key == KEY_CODE_PASTE_END) {
		ui->is_pasting = key == KEY_CODE_PASTE;
	} else if (ui->is_pasting) {
		/* The key was meant for an agent. */
	} else if (action == ACTION_QUIT || action == ACTION_SUSPEND || action == ACTION_REDRAW ||
		   action == ACTION_HELP) {
		ui_act(ui, action, ret);
	} else if (wall->ids.count && !wheel_moves(wall, ui->list, key)) {
		act(wall, ui, action, ret);
	}
}

void wall_click(struct wall *wall, struct ui *ui, size_t row, size_t column, struct wish *ret)
{
	size_t first = 0;
	const size_t count = ui->mode != MODE_LIST ? 0 : wall_page(wall, &first);
	for (size_t i = first; i < first + count; i++) {
		const struct rectangle at = tiles_rectangle(&wall->tiles, i);
		if (row < at.row || row >= at.row + at.height || column < at.column ||
		    column >= at.column + at.width)
			continue;
		if (i == wall->selected)
			attach(wall, ret);
		else
			select_tile(wall, ui->list, i);
		return;
	}
}
