/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui.h"

#include "base/jsonio.h"
#include "ui/state/ui-internal.h"

#include <string.h>

enum {
	/* The least terminal that has the preview by itself. */
	PREVIEW_ROWS = 20,
	PREVIEW_COLUMNS = 80,
	AROUND = 4, /* rows of a terminal that the list has not */
};

struct ui *ui_new(const char *profile)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));
	ui->profile = visible(profile);
	ui->list = list_new();
	keymap_init(&ui->keymap);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	list_free(ui->list);
	input_free(&ui->input);
	strvec_clear(&ui->targets);
	strvec_clear(&ui->agreed);
	strvec_clear(&ui->given_up);
	preview_free(&ui->preview);
	free(ui->profile);
	free(ui->search);
	questions_free(&ui->ask);
	dialog_close(&ui->dialog);
	form_free(&ui->form);
	welcome_free(&ui->welcome);
	typing_end(&ui->typing);
	while (ui->draft_count)
		ui_drop_draft(ui, ui->draft_count - 1);
	free(ui->drafts);
	strvec_clear(&ui->picks);
	strvec_clear(&ui->many);
	free(ui->question);
	free(ui->command);
	free(ui->completing);
	free(ui->message);
	free(ui->stage);
	free(ui->help_find);
	free(ui->removed_on);
	free(ui);
}

void wish_clear(struct wish *wish)
{
	strvec_clear(&wish->words);
	strvec_clear(&wish->each);
	free(wish->input);
	*wish = (struct wish){ 0 };
}

void ui_tell_useless(struct ui *ui, const char *key)
{
	cleanup_free char *text = xasprintf("%s does nothing here; %%s lists the keys.",
					    *key ? key : "This key");
	ui_tell_key(ui, text, ACTION_HELP, true);
}

/* ---- the list --------------------------------------------------------------------------------- */

static void next_order(struct ui *ui)
{
	list_set_order(ui->list, (list_order(ui->list) + 1) % ORDER_COUNT);
	cleanup_free char *text = xasprintf("Sorted by %s.", list_order_name(list_order(ui->list)));
	ui_tell(ui, text, false);
}

static void next_scope(struct ui *ui)
{
	enum list_scope next = (list_scope(ui->list) + 1) % SCOPE_COUNT;
	if (next == SCOPE_ARCHIVE && !list_counts(ui->list).archived)
		next = SCOPE_ALL;
	list_set_scope(ui->list, next);
	/* While sessions are hidden, the deck says so itself. */
	if (list_scope(ui->list) == SCOPE_ALL)
		ui_tell(ui, "Showing all.", false);
}

/* All of the group under the cursor, or none if they are chosen. */
static void choose_group(struct ui *ui)
{
	size_t count = 0;
	bool is_any_left = false;
	cleanup_free struct item **items = list_group(ui->list, &count);
	for (size_t i = 0; i < count; i++)
		is_any_left |= !items[i]->is_chosen;
	for (size_t i = 0; i < count; i++)
		list_choose(ui->list, items[i], is_any_left);
}

static void choose(struct ui *ui)
{
	struct item *item = list_selected(ui->list);
	if (!item) {
		choose_group(ui);
		return;
	}
	list_choose(ui->list, item, !item->is_chosen);
	list_move(ui->list, 1);
}

static void search(struct ui *ui, const char *text)
{
	replace_string(&ui->search, *text ? text : NULL);
	ui->searches++;
	list_search(ui->list, text);
}

static void next_waiting(struct ui *ui, bool is_back)
{
	if (!list_next_waiting(ui->list, is_back)) {
		ui_tell(ui, "No session waits for you.", false);
	} else if (ui->search && !list_is_searched(ui->list)) {
		/* The search that hid it is over. */
		replace_string(&ui->search, NULL);
		ui->searches++;
	}
}

static void show_only(struct ui *ui, enum action action)
{
	const struct item *item = list_selected(ui->list);
	cleanup_free char *group = list_selected_path(ui->list);
	if (action == ACTION_ONLY_AGENT && item)
		list_set_only(ui->list, ONLY_AGENT, item->agent);
	else if (action == ACTION_ONLY_GROUP && group)
		list_set_only(ui->list, ONLY_GROUP, group);
	else
		ui_tell(ui,
			action == ACTION_ONLY_AGENT ? "Move to a session of the agent first."
						    : "Move to a group, or into one, first.",
			true);
}

static void open_wall(struct ui *ui, struct wish *ret)
{
	cleanup_free char *group = list_selected_group(ui->list);
	ret->kind = WISH_TERMINAL;
	strvec_push(&ret->words, "wall");
	if (list_chosen(ui->list))
		ui_add_targets(ui, &ret->words);
	else if (group)
		strvec_pushf(&ret->words, "--group=%s", group);
}

/* Esc takes back one thing: what has not begun of many, the search, what is chosen, the filters. */
static void take_back(struct ui *ui, struct wish *ret)
{
	if (ui->many.count && !ui->is_halted) {
		ui->is_halted = true;
		ret->kind = WISH_HALT;
	} else if (ui->search) {
		search(ui, "");
	} else if (list_chosen(ui->list)) {
		list_choose_none(ui->list);
	} else if (list_only(ui->list, ONLY_AGENT)) {
		list_set_only(ui->list, ONLY_AGENT, NULL);
	} else if (list_only(ui->list, ONLY_GROUP)) {
		list_set_only(ui->list, ONLY_GROUP, NULL);
	} else {
		list_set_scope(ui->list, SCOPE_ALL);
	}
}

static void scroll_preview(struct ui *ui, bool is_up)
{
	if (ui->preview.kind == PREVIEW_NONE)
		ui_tell_key(ui, "There is nothing to scroll: %s shows the session's screen.",
			    ACTION_PREVIEW, false);
	else
		preview_scroll(&ui->preview, is_up);
}

static void move(struct ui *ui, enum action action)
{
	const long page = ui->height > 1 ? (long)ui->height - 1 : 1, half = (page + 1) / 2;
	const long steps[ACTION_COUNT] = {
		[ACTION_UP] = -1,          [ACTION_DOWN] = 1,        [ACTION_PAGE_UP] = -page,
		[ACTION_PAGE_DOWN] = page, [ACTION_HALF_UP] = -half, [ACTION_HALF_DOWN] = half,
	};
	if (steps[action])
		list_move(ui->list, steps[action]);
	else
		list_go(ui->list, action == ACTION_FIRST ? 0 : SIZE_MAX);
}

void ui_act(struct ui *ui, enum action action, struct wish *ret)
{
	static const enum wish_kind wishes[ACTION_COUNT] = {
		[ACTION_PROFILE] = WISH_PROFILE, [ACTION_NEW] = WISH_FORM,
		[ACTION_REDRAW] = WISH_REDRAW,   [ACTION_SUSPEND] = WISH_SUSPEND,
		[ACTION_QUIT] = WISH_QUIT,
	};
	if (ui_is_refused(ui, action))
		return;
	ret->kind = wishes[action];
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_UP:
	case ACTION_HALF_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
		move(ui, action);
		break;
	case ACTION_COLLAPSE:
	case ACTION_OPEN:
		list_set_collapsed(ui->list, action == ACTION_COLLAPSE);
		break;
	case ACTION_ATTACH:
		ui_attach(ui, ret);
		break;
	case ACTION_NEXT_WAITING:
	case ACTION_PREVIOUS_WAITING:
		next_waiting(ui, action == ACTION_PREVIOUS_WAITING);
		break;
	case ACTION_SEARCH:
		ui->mode = MODE_SEARCH;
		input_set(&ui->input, or_empty(ui->search));
		break;
	case ACTION_SCOPE:
		next_scope(ui);
		break;
	case ACTION_ONLY_AGENT:
	case ACTION_ONLY_GROUP:
		show_only(ui, action);
		break;
	case ACTION_ORDER:
		next_order(ui);
		break;
	case ACTION_CHOOSE:
		choose(ui);
		break;
	case ACTION_RECOVER:
		ui_offer_recovery(ui);
		break;
	case ACTION_UNDO:
		/* Undo would bring back what is gone, while the others follow. */
		if (!ui->many.count || ui->does != ACTION_REMOVE || !ui_is_at_many(ui))
			ui_undo(ui, ret);
		break;
	case ACTION_PRUNE:
		ui_look_into_trash(ui, ret);
		break;
	case ACTION_PREVIEW:
	case ACTION_PREVIEW_BACK:
		ui->wanted = ui->preview.kind =
			(ui->preview.kind + (action == ACTION_PREVIEW ? 1 : PREVIEW_COUNT - 1)) %
			PREVIEW_COUNT;
		break;
	case ACTION_PREVIEW_UP:
	case ACTION_PREVIEW_DOWN:
		scroll_preview(ui, action == ACTION_PREVIEW_UP);
		break;
	case ACTION_COPY:
		ui_copy(ui, ret);
		break;
	case ACTION_WALL:
		open_wall(ui, ret);
		break;
	case ACTION_HELP:
		ui->mode = MODE_HELP;
		ui->help_page = 0;
		replace_string(&ui->help_find, NULL);
		break;
	case ACTION_BACK:
		take_back(ui, ret);
		break;
	default:
		if (action_info(action)->needs_session)
			ui_act_on(ui, action, ret);
		break;
	}
}

/* ---- keys ------------------------------------------------------------------------------------- */

/* To the outermost group of this number. */
static void go_to_group(struct ui *ui, size_t number)
{
	size_t found = 0;
	for (size_t i = 0; i < list_lines(ui->list); i++) {
		const struct line *line = list_line(ui->list, i);
		found += line->kind == LINE_GROUP && line->depth == 0;
		if (found == number) {
			list_go(ui->list, i);
			return;
		}
	}
	ui_tell(ui, found ? "There are not so many groups." : "There is no group.", true);
}

static void key_in_list(struct ui *ui, key_code key, struct wish *ret)
{
	char name[KEY_TEXT_SIZE];
	const enum action action = keymap_action(&ui->keymap, CONTEXT_LIST, key);
	if (ui_is_empty(ui) && ui_take_offer(ui, action, ret))
		return;
	if (action != ACTION_NONE)
		ui_act(ui, action, ret);
	else if (key >= '1' && key <= '9')
		go_to_group(ui, key - '0');
	else
		ui_tell_useless(ui, key_text(key, name));
}

/* False: that is no action to move with. */
static bool move_in_search(struct ui *ui, enum action action)
{
	static const enum action moves[ACTION_COUNT] = {
		[ACTION_SEARCH_UP] = ACTION_UP,
		[ACTION_SEARCH_DOWN] = ACTION_DOWN,
		[ACTION_SEARCH_PAGE_UP] = ACTION_PAGE_UP,
		[ACTION_SEARCH_PAGE_DOWN] = ACTION_PAGE_DOWN,
	};
	if (moves[action] == ACTION_NONE)
		return false;
	move(ui, moves[action]);
	return true;
}

static void key_in_search(struct ui *ui, key_code key)
{
	cleanup_free char *before = xstrdup(input_text(&ui->input));
	const enum action action = keymap_action(&ui->keymap, CONTEXT_SEARCH, key);
	if (move_in_search(ui, action)) {
		return;
	} else if (action == ACTION_LINE_ACCEPT) {
		ui->mode = MODE_LIST;
	} else if (action == ACTION_LINE_CANCEL) {
		ui->mode = MODE_LIST;
		search(ui, "");
	} else if (input_key(&ui->input, &ui->keymap, CONTEXT_SEARCH, key) &&
		   !streq(before, input_text(&ui->input))) {
		search(ui, input_text(&ui->input));
	}
}

/* The list of matches may begin with a group, which cannot be attached to. */
static void find_session(struct ui *ui)
{
	const size_t first = list_cursor(ui->list);
	for (size_t i = list_cursor(ui->list); i < list_lines(ui->list) && !list_selected(ui->list);
	     i++)
		list_move(ui->list, 1);
	if (!list_selected(ui->list))
		list_go(ui->list, first);
}

/* How well a title fits what was typed. */
static unsigned rank(const char *title, const char *text)
{
	const char *at = strcasestr(title, text);
	if (!at)
		return 0;
	return strlen(title) == strlen(text) ? 3 : at == title ? 2 : 1;
}

/* To the session that is most likely meant: a title counts more than a directory. */
static void find_named(struct ui *ui)
{
	const char *text = input_text(&ui->input);
	unsigned best = 0;
	size_t found = 0;
	for (size_t i = 0; *text && i < list_lines(ui->list); i++) {
		const struct line *line = list_line(ui->list, i);
		const unsigned one = line->kind == LINE_SESSION ? rank(line->item->title, text) : 0;
		if (one > best) {
			best = one;
			found = i;
		}
	}
	if (best)
		list_go(ui->list, found);
	else
		find_session(ui);
}

static void key_in_pick(struct ui *ui, key_code key, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	const enum action action = keymap_action(&ui->keymap, CONTEXT_SEARCH, key);
	if (action == ACTION_LINE_CANCEL) {
		ret->kind = WISH_QUIT;
	} else if (action == ACTION_LINE_ACCEPT && item) {
		ret->kind = WISH_SWITCH;
		ui_expect(ui, ret);
		strvec_push(&ret->words, item->id);
	} else if (action != ACTION_LINE_ACCEPT) {
		const unsigned before = ui->searches;
		key_in_search(ui, key);
		if (ui->searches != before)
			find_named(ui);
	}
}

void ui_fit(struct ui *ui, size_t rows, size_t columns)
{
	const bool has_room = rows >= PREVIEW_ROWS && columns >= PREVIEW_COLUMNS;
	enum preview_kind *kind = ui->mode == MODE_AGENT ? &ui->seen_before : &ui->preview.kind;
	if (has_room != ui->has_room)
		*kind = has_room ? ui->wanted : PREVIEW_NONE;
	ui->has_room = has_room;
}

void ui_begin(struct ui *ui, size_t rows, size_t columns)
{
	const struct item *kept = list_selected(ui->list);
	ui_fit(ui, rows, columns);
	const size_t height = rows > AROUND ? rows - AROUND : 0;
	const bool is_below = ui->preview.kind != PREVIEW_NONE && columns < UI_SIDE_BY_SIDE;
	list_fold(ui->list, is_below ? 3 * height / 5 : height);
	/* What was folded stays so. */
	if (list_counts(ui->list).needy || !kept || list_selected(ui->list) != kept)
		list_go(ui->list, 0);
	find_session(ui);
}

void ui_save(struct ui *ui, struct json_object *ret)
{
	const struct item *item = list_selected(ui->list);
	list_save(ui->list, ret);
	json_set_string(ret, "preview", preview_name(ui->wanted));
	json_set_string(ret, "session", item ? item->id : NULL);
}

void ui_restore(struct ui *ui, const struct json_object *saved)
{
	const char *preview = json_get_string(saved, "preview", NULL);
	struct item *item = list_find(ui->list, json_get_string(saved, "session", ""));
	if (preview && preview_of_name(preview) < PREVIEW_COUNT)
		ui->wanted = preview_of_name(preview);
	list_restore(ui->list, saved);
	if (item && list_has_line(ui->list, item))
		(void)list_select(ui->list, item);
}

void ui_begin_pick(struct ui *ui)
{
	ui->mode = MODE_PICK;
	input_set(&ui->input, "");
	list_fold(ui->list, SIZE_MAX);
	if (!list_next_waiting(ui->list, false))
		find_session(ui);
}

/* A message is kept, and so is a command; of a line that is on its way, its end decides. */
static void leave_line(struct ui *ui)
{
	const enum action action = ui->pending;
	const bool is_kept = action == ACTION_SEND || action == ACTION_COMMAND;
	cleanup_free char *text = xstrdup(input_text(&ui->input));
	cleanup_free char *what = ui_name_line(ui);
	const unsigned ticket = ui->is_waiting ? ui->ticket : 0;
	ui_end_pending(ui);
	if (*text && (ticket || is_kept))
		ui_keep_draft(ui, what, text, ticket);
	if (*text && !ticket && is_kept)
		ui_tell_key(ui, "What you typed is kept; %s shows it again.", action, false);
}

/* The key may have been typed ahead, for what was there before. */
static void release_line(struct ui *ui)
{
	ui->is_held = false;
	ui_tell(ui, "Nothing was done yet: Enter once more does it.", true);
}

/* A command that is changed was seen; text for an agent can be the rest of what was typed to it. */
static void edit_line(struct ui *ui, key_code key)
{
	if (ui->pending == ACTION_COMMAND)
		ui->is_held = false;
	(void)input_key(&ui->input, &ui->keymap, CONTEXT_LINE, key);
}

static void key_in_line(struct ui *ui, key_code key, struct wish *ret)
{
	const enum action action = keymap_action(&ui->keymap, CONTEXT_LINE, key);
	if (action == ACTION_LINE_CANCEL)
		leave_line(ui);
	else if (ui->is_waiting)
		return;
	else if (action == ACTION_LINE_ACCEPT && ui->is_held)
		release_line(ui);
	else if (action == ACTION_LINE_ACCEPT)
		ui_go_on(ui, ret);
	else if (action == ACTION_LINE_COMPLETE)
		ui_complete(ui, ret);
	else
		edit_line(ui, key);
}

static void key_in_find(struct ui *ui, key_code key)
{
	const enum action action = keymap_action(&ui->keymap, CONTEXT_SEARCH, key);
	if (action == ACTION_LINE_ACCEPT || action == ACTION_LINE_CANCEL) {
		ui->is_finding = false;
		if (action == ACTION_LINE_CANCEL)
			replace_string(&ui->help_find, NULL);
		return;
	}
	if (input_key(&ui->input, &ui->keymap, CONTEXT_SEARCH, key))
		replace_string(&ui->help_find, input_text(&ui->input));
}

/* By pages, whose number drawing limits. */
static void key_in_help(struct ui *ui, key_code key)
{
	if (ui->is_finding) {
		key_in_find(ui, key);
		return;
	}
	if (keymap_action(&ui->keymap, CONTEXT_LIST, key) == ACTION_SEARCH) {
		ui->is_finding = true;
		input_set(&ui->input, or_empty(ui->help_find));
		return;
	}
	switch (keymap_action(&ui->keymap, CONTEXT_HELP, key)) {
	case ACTION_UP:
	case ACTION_PAGE_UP:
		ui->help_page -= ui->help_page > 0;
		break;
	case ACTION_DOWN:
	case ACTION_PAGE_DOWN:
		ui->help_page++;
		break;
	case ACTION_FIRST:
		ui->help_page = 0;
		break;
	case ACTION_LAST:
		ui->help_page = SIZE_MAX / 2;
		break;
	default:
		ui->mode = MODE_LIST;
		break;
	}
}

static bool is_typing(const struct ui *ui)
{
	return ui->mode == MODE_SEARCH || ui->mode == MODE_PICK || ui->mode == MODE_LINE;
}

/* What is pasted is text: in the list each of its characters would be an action.  True: the key was
 * dealt with.  Ctrl-C ends a paste whose end is lost. */
static bool take_paste(struct ui *ui, key_code key, struct wish *ret)
{
	if (key == KEY_CODE_PASTE) {
		ui->is_pasting = true;
		if (!is_typing(ui) && ui->mode != MODE_FORM && ui->mode != MODE_AGENT)
			ui_tell_key(ui, "Pasted text does nothing here: %s sends a line.",
				    ACTION_SEND, true);
		return true;
	}
	if (!ui->is_pasting)
		return key == KEY_CODE_PASTE_END;
	if (key == KEY_CODE_PASTE_END || key == ('C' & KEY_CODE_CTRL)) {
		ui->is_pasting = false;
		/* Once for all of it: a list is long, and so can a paste be. */
		if (ui->mode == MODE_SEARCH || ui->mode == MODE_PICK)
			search(ui, input_text(&ui->input));
		if (ui->mode == MODE_PICK)
			find_named(ui);
		typing_paste_end(&ui->typing);
		if (ui->mode == MODE_AGENT)
			ret->kind = WISH_TYPE;
	} else if (ui->mode == MODE_AGENT) {
		typing_paste(&ui->typing, key);
	} else if (ui->mode == MODE_FORM) {
		form_paste(&ui->form, key);
	} else if (is_typing(ui) && !ui->is_waiting) {
		(void)input_type(&ui->input, key >= ' ' ? key : ' ');
	}
	return true;
}

void ui_key(struct ui *ui, key_code key, struct wish *ret)
{
	if (take_paste(ui, key, ret) || ui_take_wheel(ui, key))
		return;
	replace_string(&ui->message, NULL);
	ui->has_removed = false;
	switch (ui->mode) {
	case MODE_LIST:
		key_in_list(ui, key, ret);
		break;
	case MODE_SEARCH:
		key_in_search(ui, key);
		break;
	case MODE_PICK:
		key_in_pick(ui, key, ret);
		break;
	case MODE_LINE:
		key_in_line(ui, key, ret);
		break;
	case MODE_LOOKING:
		ui_key_while_looking(ui, key);
		break;
	case MODE_DIALOG:
		if (ui_key_in_dialog(ui, key, ret))
			ui_go_on(ui, ret);
		break;
	case MODE_FORM:
		ui_key_in_form(ui, key, ret);
		break;
	case MODE_AGENT:
		ui_key_to_agent(ui, key, ret);
		break;
	case MODE_HELP:
		key_in_help(ui, key);
		break;
	}
}
