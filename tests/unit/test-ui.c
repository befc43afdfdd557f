/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys go in, and what the program is to do comes out.
 */
#include "unit/ui-fixture.h"

#include "base/jsonio.h"

#include <string.h>

static void actions_become_commands(void **state UNUSED)
{
	static const struct {
		key_code keys[12];
		const char *wish;
	} cases[] = {
		{ { 'q' }, "quit" },
		{ { 'C' & KEY_CODE_CTRL }, "quit" },
		{ { 'Z' & KEY_CODE_CTRL }, "suspend" },
		{ { 'L' & KEY_CODE_CTRL }, "redraw" },
		{ { 'P' }, "profile" },
		{ { KEY_CODE_ENTER }, "attach id-a" },
		{ { 's' }, "run start id-a" },
		{ { 'F', 'y' }, "run fork id-a" },
		{ { 'x', 'y' }, "run stop id-a" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'r', 'y' }, "run restart id-a id-b" },
		{ { 'x', KEY_CODE_DOWN, KEY_CODE_ENTER }, "run stop id-a" },
		{ { 'R', 'y' }, "run recover" },
		{ { 'u' }, "run undo" },
		{ { 'm', 'h', 'i', KEY_CODE_ENTER },
		  "line send --message-file - --session=id-a <hi" },
		{ { 't', '2', KEY_CODE_ENTER }, "line rename -- id-a api2" },
		{ { 'M', 'w', KEY_CODE_ENTER }, "line set -- id-a group w" },
		{ { 'M', KEY_CODE_ENTER }, "line set -- id-a group " },
		{ { ' ', KEY_CODE_DOWN, ' ', 's' }, "run start id-a id-b" },
		{ { 'c' }, "form" },
		{ { 'w' }, "terminal wall" },
		{ { KEY_CODE_DOWN, 'w' }, "terminal wall --group=work" },
		{ { KEY_CODE_DOWN, KEY_CODE_DOWN, 'w' }, "terminal wall --group=work" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'w' }, "terminal wall id-a id-b" },
		{ { ':', 'p', ' ', 'a', ' ', '\'', 'b', ' ', '\'', KEY_CODE_ENTER },
		  "show with-session id-a -- p a b " },
		{ { ':', 'p', KEY_CODE_ENTER }, "show with-session id-a -- p" },
		{ { ':', KEY_CODE_ENTER }, "" },
		{ { KEY_CODE_DOWN, ':', 'u', 'p', KEY_CODE_ENTER }, "show with-session -- up" },
		/* commands for one session: once for each */
		{ { ' ', KEY_CODE_DOWN, ' ', 'F', 'y' }, "run fork --no-wait 2:id-a 2:id-b" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'M', 'w', KEY_CODE_ENTER },
		  "line set -- group w 2:id-a 2:id-b" },
		{ { 'L', '2', 'G', ' ', 't', '=', '1', KEY_CODE_ENTER },
		  "line limit --memory-max=2G --t=1 -- id-a" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'L', '1', KEY_CODE_ENTER },
		  "line limit --memory-max=1 -- 3:id-a 3:id-b" },
		{ { 'L', 'U' & KEY_CODE_CTRL, KEY_CODE_ENTER }, "" },
		{ { 'e' }, "terminal send --edit --session=id-a" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'e' },
		  "terminal send --edit --session=id-a --session=id-b" },
		{ { 'y' }, "copy output id-a" },
		{ { KEY_CODE_TAB, 'y' }, "copy output --pane id-a" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		check(ui, cases[i].keys, cases[i].wish);
		if (ui->is_waiting)
			ui_line_ended(ui, ui->ticket, "done", true);
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

static void a_command_is_for_the_selected_session(void **state UNUSED)
{
	static const struct {
		const char *typed, *wish;
	} cases[] = {
		{ "archive", "show with-session id-a -- archive" },
		{ "archive --stop", "show with-session id-a -- archive --stop" },
		{ "set tags +api -old", "show with-session id-a -- set tags +api -old" },
		{ "set pinned yes", "show with-session id-a -- set pinned yes" },
		{ "unarchive", "show with-session id-a -- unarchive" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		check(ui, KEYS(':'), "");
		for (const char *c = cases[i].typed; *c; c++)
			check(ui, KEYS((key_code)*c), "");
		check(ui, KEYS(KEY_CODE_ENTER), cases[i].wish);
	}
}

/* Where there are none, Enter is what it is elsewhere. */
static void enter_shows_changes_line_by_line(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	ui->preview.kind = PREVIEW_CHANGES;
	check(ui, KEYS(enter), "attach id-a");
	(void)preview_set(&ui->preview, PREVIEW_CHANGES, "id-a", "main: no commits\n");
	check(ui, KEYS(enter), "show changes --diff id-a");
	ui->preview.has_failed = true;
	check(ui, KEYS(enter), "attach id-a");
}

static void groups_are_renamed_and_found_by_their_number(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	list_add(ui->list, &(struct facts){ .key.id = "id-c",
					    .title = "ui",
					    .group = "work/front",
					    .created_us = 3,
					    .doing = DOING_WAITING });
	list_add(ui->list, &(struct facts){ .key.id = "id-d", .title = "d", .group = "play" });
	check(ui, KEYS('2', 't', 'b', enter), "line group rename -- work workb");
	ui_line_ended(ui, ui->ticket, "it is not free", false);
	assert_string_equal(input_text(&ui->input), "workb");
	check(ui, KEYS(escape, 'M', '/', 'c', enter), "line group rename -- work work/c");
	ui_line_ended(ui, ui->ticket, "renamed", true);
	check(ui, KEYS(down, down, 't', 's', enter), "line group rename -- work/front work/fronts");
	ui_line_ended(ui, ui->ticket, "renamed", true);
	/* A session afterwards is one. */
	check(ui, KEYS(down, 't', 's', enter), "line rename -- id-c uis");
	ui_line_ended(ui, ui->ticket, "renamed", true);
	check(ui, KEYS('1'), "");
	cleanup_free char *group = list_selected_group(ui->list);
	assert_string_equal(group, "play");
	check(ui, KEYS('9'), "");
	assert_string_equal(ui->message, "There are not so many groups.");
	/* Who waits, forward and back, and half a page. */
	check(ui, KEYS('n', 'n', 'N'), "");
	const struct item *selected = list_selected(ui->list);
	check(ui, KEYS('n', 'N'), "");
	assert_ptr_equal(list_selected(ui->list), selected);
	ui->height = 5;
	check(ui, KEYS('g', 'D' & KEY_CODE_CTRL), "");
	assert_int_equal(list_cursor(ui->list), 2);
	check(ui, KEYS('U' & KEY_CODE_CTRL), "");
	assert_int_equal(list_cursor(ui->list), 0);
	check(ui, KEYS(KEY_CODE_TAB, KEY_CODE_BACKTAB, KEY_CODE_BACKTAB), "");
	assert_int_equal(ui->preview.kind, PREVIEW_COUNT - 1);
}

static void a_refused_line_stays_open(void **state UNUSED)
{
	static const key_code lines[] = { 't', 'M', 'L', 'm' };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_ui struct ui *ui = make();
		check(ui, KEYS(lines[i], 'U' & KEY_CODE_CTRL), "");
		cleanup_wish struct wish wish = { 0 };
		ui_key(ui, 'y', &wish);
		ui_key(ui, KEY_CODE_ENTER, &wish);
		assert_int_equal(wish.kind, WISH_LINE);
		/* What is typed before the answer is for nobody. */
		check(ui, KEYS('x', 'm', KEY_CODE_ENTER), "");
		ui_line_ended(ui, ui->ticket, "it is wrong", false);
		assert_int_equal(ui->mode, MODE_LINE);
		assert_string_equal(input_text(&ui->input), "y");
		assert_string_equal(ui->message, "it is wrong");
		check(ui, KEYS('z'), "");
		assert_string_equal(input_text(&ui->input), "yz");
		wish_clear(&wish);
		ui_key(ui, KEY_CODE_ENTER, &wish);
		assert_int_equal(wish.kind, WISH_LINE);
		/* The next line does not wait for this one. */
		check(ui, KEYS(escape), "");
		assert_int_equal(ui->mode, MODE_LIST);
		check(ui, KEYS('m', 'q'), "");
		ui_line_ended(ui, ui->ticket, "done", true);
		assert_int_equal(ui->mode, MODE_LINE);
		assert_string_equal(input_text(&ui->input), "q");
	}
}

/* Of two that run, the one that the user sees counts, in whichever order they end. */
static void a_line_waits_for_its_own_command(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish first = { 0 }, second = { 0 };
	check(ui, KEYS('m', 'y'), "");
	ui_key(ui, enter, &first);
	check(ui, KEYS(escape, 'm', 'z'), "");
	ui_key(ui, enter, &second);
	ui_line_ended(ui, first.ticket, "sent", true);
	assert_true(ui->is_waiting);
	ui_line_ended(ui, second.ticket, "it is wrong", false);
	assert_int_equal(ui->mode, MODE_LINE);
	check(ui, KEYS('!', escape, 'm', 'a'), "");
	wish_clear(&first);
	ui_key(ui, enter, &first);
	check(ui, KEYS(escape, 'm', 'b'), "");
	wish_clear(&second);
	ui_key(ui, enter, &second);
	ui_line_ended(ui, second.ticket, "it is wrong", false);
	ui_line_ended(ui, first.ticket, "sent", true);
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(input_text(&ui->input), "b");
}

/* Esc while its command runs gives no text away. */
static void a_line_that_is_left_comes_back_if_it_fails(void **state UNUSED)
{
	static const key_code lines[] = { 'm', 't', 'M', 'L' };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_ui struct ui *ui = make();
		cleanup_wish struct wish wish = { 0 };
		check(ui, KEYS(lines[i], 'U' & KEY_CODE_CTRL, 'y'), "");
		ui_key(ui, enter, &wish);
		check(ui, KEYS(escape), "");
		/* It may still be done: it is not offered a second time. */
		check(ui, KEYS('m'), "");
		assert_string_equal(input_text(&ui->input), "");
		check(ui, KEYS('n', escape, down, down), "");
		ui_line_ended(ui, wish.ticket, "its agent asks something else", false);
		assert_string_equal(ui->message,
				    "its agent asks something else. What you typed is kept.");
		check(ui, KEYS(up, up, lines[i]), "");
		assert_string_equal(input_text(&ui->input), lines[i] == 'm' ? "n y" : "y");
		/* One that was done is not. */
		wish_clear(&wish);
		ui_key(ui, enter, &wish);
		check(ui, KEYS(escape), "");
		ui_line_ended(ui, wish.ticket, "done", true);
		assert_string_equal(ui->message, "done");
		check(ui, KEYS('m'), "");
		assert_string_equal(input_text(&ui->input), lines[i] == 'm' ? "" : "n");
	}
}

static void of_two_lines_that_fail_each_is_kept(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish first = { 0 }, second = { 0 };
	check(ui, KEYS('m', '1'), "");
	ui_key(ui, enter, &first);
	check(ui, KEYS(escape, 'm', '2'), "");
	ui_key(ui, enter, &second);
	check(ui, KEYS(escape), "");
	ui_line_ended(ui, first.ticket, "no", false);
	ui_line_ended(ui, second.ticket, "no", false);
	check(ui, KEYS('m'), "");
	assert_string_equal(input_text(&ui->input), "1 2");
	assert_int_equal(ui->draft_count, 0);
}

/* The one that was chosen last counts. */
static void a_switch_that_failed_late_says_nothing(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish first = { 0 }, second = { 0 };
	ui_begin_pick(ui);
	ui_key(ui, enter, &first);
	assert_true(ui_awaits(ui, first.ticket));
	check(ui, KEYS('a', 'p', 'i'), "");
	ui_key(ui, enter, &second);
	assert_false(ui_awaits(ui, first.ticket));
	assert_true(ui_awaits(ui, second.ticket));
}

static void what_is_not_confirmed_is_not_done(void **state UNUSED)
{
	static const key_code actions[] = { 'x', 'r', 'd', 'R' };
	static const key_code others[] = { 'n', 'q', KEY_CODE_ENTER, KEY_CODE_ESCAPE };
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(others); k++) {
			cleanup_ui struct ui *ui = make();
			check(ui, KEYS(actions[i], others[k]), "");
			assert_int_equal(ui->mode, MODE_LIST);
			assert_string_equal(ui->message, "Nothing was done.");
		}
	}
}

static void a_dialog_knows_the_keys_of_the_configuration(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(keymap_bind(&ui->keymap, "down=J", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "attach=o", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "quit=Q", NULL), 0);
	check(ui, KEYS('x', 'J', 'o'), "run stop id-a");
	check(ui, KEYS('x', 'J', 'Q'), "");
	assert_string_equal(ui->message, "Nothing was done.");
}

static void a_question_has_keys_of_the_usual_kind(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('x', 'j', enter), "run stop id-a");
	check(ui, KEYS('x', KEY_CODE_TAB, enter), "run stop id-a");
	check(ui, KEYS('x', 'j', 'k', enter), "");
	check(ui, KEYS('x', KEY_CODE_TAB, KEY_CODE_BACKTAB, enter), "");
	check(ui, KEYS('x', 'C' & KEY_CODE_CTRL), "");
	/* A key that is held down confirms nothing. */
	check(ui, KEYS('x', 'x', 'x', escape), "");
	check(ui, KEYS('x', 'Y'), "run stop id-a");
	/* A user's own. */
	assert_int_equal(keymap_bind(&ui->keymap, "question.yes=1", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "question.next=F2", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "question.no=x", NULL), 0);
	check(ui, KEYS('x', '1'), "run stop id-a");
	check(ui, KEYS('x', KEY_CODE_F1 + 1, enter), "run stop id-a");
	check(ui, KEYS('x', 'y', KEY_CODE_TAB, enter), "");
	check(ui, KEYS('x', 'x'), "");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void a_typed_line_has_the_keys_of_its_user(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(keymap_bind(&ui->keymap, "line.cancel=F2", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "line.accept=F3", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "search.down=Ctrl-N", NULL), 0);
	check(ui, KEYS('m', 'x', KEY_CODE_F1 + 1), "");
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "What you typed is kept; m shows it again.");
	check(ui, KEYS('m', KEY_CODE_F1 + 2), "line send --message-file - --session=id-a <x");
	ui_line_ended(ui, ui->ticket, "sent", true);
	/* It is no key of the line now, and no way out of it. */
	check(ui, KEYS('m', 'x', 'C' & KEY_CODE_CTRL), "");
	assert_int_equal(ui->mode, MODE_LINE);
	check(ui, KEYS(escape, '/'), "");
	const size_t before = list_cursor(ui->list);
	check(ui, KEYS(down), "");
	assert_int_equal(list_cursor(ui->list), before);
	check(ui, KEYS('N' & KEY_CODE_CTRL), "");
	assert_int_equal(list_cursor(ui->list), before + 1);
	check(ui, KEYS(KEY_CODE_F1 + 2), "");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void what_is_told_names_the_keys_in_use(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(keymap_bind(&ui->keymap, "help=F9", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "preview=v", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "send=S", NULL), 0);
	check(ui, KEYS('Q'), "");
	assert_string_equal(ui->message, "Q does nothing here; F9 lists the keys.");
	check(ui, KEYS('J'), "");
	assert_string_equal(ui->message,
			    "There is nothing to scroll: v shows the session's screen.");
	check(ui, KEYS(KEY_CODE_PASTE, 'q', 'd', KEY_CODE_PASTE_END), "");
	assert_string_equal(ui->message, "Pasted text does nothing here: S sends a line.");
}

static void a_line_can_be_given_up(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('m', 'x', escape), "");
	check(ui, KEYS('t', 'x', 'C' & KEY_CODE_CTRL), "");
	assert_int_equal(ui->mode, MODE_LIST);
	/* An empty message is none. */
	check(ui, KEYS('m', 'U' & KEY_CODE_CTRL, enter), "");
}

static void the_question_names_whom_it_is_about(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('x'), "");
	assert_string_equal(ui->dialog.question.prompt, "Stop api?");
	check(ui, KEYS(escape, ' ', down, ' ', 'x'), "");
	assert_string_equal(ui->dialog.question.prompt, "Stop 2 sessions?");
}

/* The list goes on while a question is open. */
static void an_answer_is_for_whom_the_question_named(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('x'), "");
	list_remove(ui->list, list_selected(ui->list));
	check(ui, KEYS('y'), "run stop id-a");
}

/* As if the list was drawn below a header, on 40 columns. */
static void check_click(struct ui *ui, size_t row, size_t column, const char *expected)
{
	cleanup_wish struct wish wish = { 0 };
	ui->height = 10;
	ui->list_row = 1;
	ui->list_width = 40;
	ui_click(ui, row, column, &wish);
	assert_string_equal(wish.words.count ? wish.words.items[0] : "", expected);
}

static void the_mouse_selects_and_attaches(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	/* api, the group, web */
	check_click(ui, 3, 5, "");
	assert_string_equal(list_selected(ui->list)->id, "id-b");
	check_click(ui, 3, 5, "id-b");
	/* not on a line of the list */
	check_click(ui, 0, 5, "");
	check_click(ui, 4, 5, "");
	check_click(ui, 3, 40, "");
	check(ui, KEYS(KEY_CODE_WHEEL_UP), "");
	assert_string_equal(list_selected(ui->list)->id, "id-a");
	check(ui, KEYS(KEY_CODE_WHEEL_DOWN), "");
	assert_string_equal(list_selected(ui->list)->id, "id-b");
	/* on a group, as Enter */
	check_click(ui, 2, 5, "");
	check_click(ui, 2, 5, "");
	assert_int_equal(list_lines(ui->list), 2);
}

static void the_mouse_answers_nothing(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('x'), "");
	check_click(ui, 1, 0, "");
	check(ui, KEYS(KEY_CODE_CLICK, KEY_CODE_WHEEL_DOWN, KEY_CODE_WHEEL_UP), "");
	assert_int_equal(ui->mode, MODE_DIALOG);
	check(ui, KEYS(escape, 'm', KEY_CODE_WHEEL_DOWN, KEY_CODE_CLICK), "");
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(input_text(&ui->input), "");
}

static void a_search_narrows_as_it_is_typed(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('/', 'w', 'e'), "");
	assert_int_equal(list_counts(ui->list).shown, 1);
	check(ui, KEYS('q', KEY_CODE_BACKSPACE, down, enter), "");
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->search, "we");
	check(ui, KEYS(enter), "attach id-b");
	check(ui, KEYS(escape), "");
	assert_null(ui->search);
	assert_int_equal(list_counts(ui->list).shown, 2);
}

static void a_picker_only_chooses(void **state UNUSED)
{
	static const struct {
		key_code keys[8];
		const char *wish;
	} cases[] = {
		/* the one that waits, without a key */
		{ { KEY_CODE_ENTER }, "switch id-b" },
		{ { 'A', 'p', KEY_CODE_ENTER }, "switch id-a" },
		/* behind its group */
		{ { 'w', 'o', 'r', KEY_CODE_ENTER }, "switch id-b" },
		{ { 'x', 'x', KEY_CODE_ENTER }, "" },
		/* above all others */
		{ { KEY_CODE_UP, KEY_CODE_ENTER }, "switch id-b" },
		{ { KEY_CODE_DOWN, KEY_CODE_ENTER }, "switch id-a" },
		{ { KEY_CODE_DOWN, KEY_CODE_DOWN, KEY_CODE_ENTER }, "" },
		{ { KEY_CODE_ESCAPE }, "quit" },
		{ { 'q', KEY_CODE_CTRL & 'C' }, "quit" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		ui_begin_pick(ui);
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_PICK);
	}
}

/* The title that fits best, until the user chooses another one. */
static void a_picker_leaves_the_cursor_to_its_user(void **state UNUSED)
{
	static const struct {
		key_code keys[12];
		const char *wish;
	} cases[] = {
		{ { 'w', 'e', KEY_CODE_ENTER }, "switch id-b" },
		{ { 'w', 'e', KEY_CODE_DOWN, KEY_CODE_ENTER }, "switch id-c" },
		{ { 'w', 'e', KEY_CODE_DOWN, KEY_CODE_LEFT, KEY_CODE_END, KEY_CODE_F1,
		    KEY_CODE_ENTER },
		  "switch id-c" },
		{ { KEY_CODE_PASTE, 'w', 'o', 'r', 'k', KEY_CODE_PASTE_END, KEY_CODE_ENTER },
		  "switch id-d" },
	};
	static const char *const titles[] = { "web2", "work" };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		for (size_t k = 0; k < ARRAY_SIZE(titles); k++) {
			const char id[] = { 'i', 'd', '-', (char)('c' + k), '\0' };
			list_add(ui->list, &(struct facts){ .key.id = id,
							    .title = titles[k],
							    .group = "work",
							    .created_us = 3,
							    .doing = DOING_IDLE });
		}
		ui_begin_pick(ui);
		check(ui, cases[i].keys, cases[i].wish);
	}
}

static void an_empty_deck_makes_the_first_sessions(void **state UNUSED)
{
	cleanup_ui struct ui *ui = ui_new("default");
	check(ui, KEYS(up, enter), "form");
	check(ui, KEYS(down, enter, down, enter), "show discover;show import");
	welcome_set_sources(&ui->welcome, "{\"sources\": [{\"name\": \"a\", \"sessions\": 2}]}");
	assert_string_equal(ui->welcome.details[OFFER_IMPORT], "a: 2 sessions");
	check(ui, KEYS(enter), "show import a --apply");
	welcome_set_sources(&ui->welcome, "{\"sources\": [{\"name\": \"a\", \"sessions\": 2}, "
					  "{\"name\": \"b\", \"sessions\": 1}]}");
	check(ui, KEYS(enter), "show import");
	/* A key that is held down makes one session. */
	check(ui, KEYS(down, down, enter, enter, enter),
	      "line launch --agent demo --title demo --no-wait .");
	ui_line_ended(ui, ui->ticket, "there is no room", false);
	check(ui, KEYS(enter), "line launch --agent demo --title demo --no-wait .");
	ui_line_ended(ui, ui->ticket, "started", true);
	check(ui, KEYS(enter), "");
	/* Other keys mean what they do. */
	check(ui, KEYS('c'), "form");
	/* A look that failed is not "nothing". */
	static const char *const bad[] = { NULL, "", "[]", "{\"error\": \"no home\"}",
					   "{\"sources\": 7, \"conversations\": {}}" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		welcome_set_sources(&ui->welcome, bad[i]);
		welcome_set_conversations(&ui->welcome, bad[i]);
		assert_string_equal(ui->welcome.details[OFFER_IMPORT], "unknown: the look failed");
		assert_string_equal(ui->welcome.details[OFFER_DISCOVER],
				    "unknown: the look failed");
	}
	/* Its command says why. */
	check(ui, KEYS(up, enter, up, enter), "show import;show discover");
	welcome_set_sources(&ui->welcome, "{\"error\": \"none\", \"code\": \"NOT_FOUND\"}");
	welcome_set_conversations(&ui->welcome, "{\"conversations\": []}");
	assert_string_equal(ui->welcome.details[OFFER_IMPORT], "nothing on this machine");
	assert_string_equal(ui->welcome.details[OFFER_DISCOVER], "nothing on this machine");
	check(ui, KEYS(enter, down, enter), "");
}

static void it_begins_on_a_session(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(down), "");
	assert_null(list_selected(ui->list));
	ui_begin(ui, 24, 80);
	assert_string_equal(list_selected(ui->list)->id, "id-b");
}

static void the_preview_is_there_where_it_fits(void **state UNUSED)
{
	static const struct {
		size_t rows, columns;
		bool wants;
		enum preview_kind kind;
	} cases[] = {
		{ 24, 80, true, PREVIEW_SCREEN },  { 24, 80, false, PREVIEW_NONE },
		{ 19, 80, true, PREVIEW_NONE },    { 24, 79, true, PREVIEW_NONE },
		{ 50, 200, true, PREVIEW_SCREEN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		ui->wanted = cases[i].wants ? PREVIEW_SCREEN : PREVIEW_NONE;
		ui_begin(ui, cases[i].rows, cases[i].columns);
		assert_int_equal(ui->preview.kind, cases[i].kind);
	}
}

static void the_next_deck_begins_where_the_last_one_ended(void **state UNUSED)
{
	cleanup_json struct json_object *saved = json_object_new_object();
	cleanup_json struct json_object *other = json_object_new_object();
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('o', 'o', KEY_CODE_TAB, KEY_CODE_TAB, down, enter, 'f', up), "");
	ui_save(ui, saved);
	cleanup_ui struct ui *next = make();
	ui_restore(next, saved);
	list_change(next->list, list_find(next->list, "id-b"),
		    &(struct facts){ .key.id = "id-b", .group = "work", .doing = DOING_IDLE });
	ui_begin(next, 50, 200);
	assert_int_equal(list_order(next->list), ORDER_TITLE);
	assert_int_equal(next->preview.kind, PREVIEW_REPLY);
	assert_int_equal(list_scope(next->list), SCOPE_ALL);
	assert_int_equal(list_lines(next->list), 2);
	/* The cursor of a session that is folded opens nothing. */
	cleanup_json struct json_object *folded = json_object_new_object();
	ui_save(next, folded);
	json_set_string(folded, "session", "id-b");
	cleanup_ui struct ui *closed = make();
	ui_restore(closed, folded);
	assert_int_equal(list_lines(closed->list), 2);
	cleanup_ui struct ui *needy = make();
	check(ui, KEYS(escape, KEY_CODE_HOME), "");
	ui_save(ui, other);
	ui_restore(needy, other);
	ui_begin(needy, 50, 200);
	assert_string_equal(list_selected(needy->list)->id, "id-b");
	cleanup_json struct json_object *odd = NULL;
	const char *text = "{\"order\": 7, \"collapsed\": \"x\", \"preview\": \"none such\", "
			   "\"session\": [], \"opened\": [1, null]}";
	assert_int_equal(json_parse(text, strlen(text), "test", &odd, NULL), 0);
	cleanup_ui struct ui *same = make();
	ui_restore(same, odd);
	assert_int_equal(list_order(same->list), ORDER_CREATION);
	assert_int_equal(list_lines(same->list), 3);
}

/* Drafts become one line, which can have more than a command takes. */
static void what_is_too_long_to_send_stays(void **state UNUSED)
{
	enum { HALF = 40000 };
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish wish = { 0 };
	check(ui, KEYS('m'), "");
	for (int i = 0; i < HALF; i++)
		(void)input_type(&ui->input, 'x');
	ui_key(ui, enter, &wish);
	check(ui, KEYS(escape, 'm'), "");
	for (int i = 0; i < HALF; i++)
		(void)input_type(&ui->input, 'x');
	check(ui, KEYS(escape), "");
	ui_line_ended(ui, wish.ticket, "no", false);
	check(ui, KEYS('m'), "");
	check(ui, KEYS(enter), "");
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(ui->message, "This is too long to send: 80001 bytes of 60000.");
	assert_int_equal(strlen(input_text(&ui->input)), 80001);
}

static void many_starts_ask_first(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	for (int last = 'c'; last < 'g'; last++) {
		const char id[] = { 'i', 'd', '-', (char)last, '\0' };
		list_add(ui->list,
			 &(struct facts){ .key.id = id, .title = id, .created_us = 3 + last });
	}
	for (size_t i = 0; i < list_count(ui->list); i++)
		list_choose(ui->list, list_find(ui->list, list_at(ui->list, i)->id), true);
	check(ui, KEYS('s'), "");
	assert_int_equal(ui->mode, MODE_DIALOG);
	assert_string_equal(ui->dialog.question.prompt, "Start 6 sessions?");
	assert_string_equal(ui->dialog.question.lines.items[0], "api");
	assert_string_equal(ui->dialog.question.lines.items[5], "and 1 more");
	check(ui, KEYS('s', 's', 'n'), "");
	check(ui, KEYS('s', 'y'), "run start id-a id-c id-d id-e id-f id-b");
}

/* One command, whose rest Esc gives up. */
static void many_starts_show_how_far_they_are(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	struct facts facts = { .key.id = "id-a", .title = "api", .doing = DOING_STOPPED };
	for (const char *id = "ab"; *id; id++) {
		facts.key.id = *id == 'a' ? "id-a" : "id-b";
		list_change(ui->list, list_find(ui->list, facts.key.id), &facts);
	}
	assert_null(ui_progress(ui));
	check(ui, KEYS(KEY_CODE_HOME, ' ', ' ', 's'), "run start id-a id-b");
	facts.doing = DOING_STARTING;
	list_change(ui->list, list_find(ui->list, "id-b"), &facts);
	/* One that has failed at once does not run. */
	facts.key.id = "id-a";
	facts.doing = DOING_ERROR;
	list_change(ui->list, list_find(ui->list, "id-a"), &facts);
	cleanup_free char *progress = ui_progress(ui);
	assert_string_equal(progress, "start: 1 of 2 sessions");
	facts.doing = DOING_STOPPED;
	list_change(ui->list, list_find(ui->list, "id-a"), &facts);
	list_choose(ui->list, list_find(ui->list, "id-a"), true);
	list_choose(ui->list, list_find(ui->list, "id-b"), true);
	check(ui, KEYS('s'), "");
	assert_string_equal(ui->message, "Sessions are being started: wait, or give the rest up "
					 "with Esc.");
	check(ui, KEYS(escape), "halt");
	assert_int_equal(list_chosen(ui->list), 2);
	check(ui, KEYS(escape), "");
	assert_int_equal(list_chosen(ui->list), 0);
	ui_line_ended(ui, ui->many_ticket, "no message", true);
	assert_string_equal(ui->message, "1 of 2 sessions are started; you gave the rest up.");
	assert_false(ui->is_bad);
	assert_null(ui_progress(ui));
	/* What failed before is told. */
	check(ui, KEYS(KEY_CODE_HOME, ' ', ' ', 's', escape), "run start id-a id-b;halt");
	ui_line_ended(ui, ui->many_ticket, "api: no image", false);
	assert_string_equal(ui->message, "api: no image");
	assert_true(ui->is_bad);
	/* One that ends says itself what it did. */
	check(ui, KEYS(KEY_CODE_HOME, ' ', ' ', 's'), "run start id-a id-b");
	ui_line_ended(ui, ui->many_ticket, "2 sessions: 2 running", true);
	assert_string_equal(ui->message, "2 sessions: 2 running");
	check(ui, KEYS(escape), "");
}

/* What undo brings back must not be removed again by the rest. */
static void remove_two(struct ui *ui)
{
	check(ui, KEYS(KEY_CODE_HOME, ' ', ' ', 'd', 'y'), "ask settle --json -- remove id-a");
	for (const char *ids = "ab"; *ids; ids++) {
		cleanup_wish struct wish wish = { 0 };
		cleanup_free char *text = xasprintf("{\"occasion\": \"remove\", \"id\": \"id-%c\", "
						    "\"about\": \"nothing\", \"questions\": []}",
						    *ids);
		ui_asked(ui, ui->ticket, text, &wish);
		assert_int_equal(wish.kind, *ids == 'a' ? WISH_ASK : WISH_RUN);
	}
}

static void a_removal_that_removed_nothing_is_not_undone(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	remove_two(ui);
	check(ui, KEYS(escape), "halt");
	ui_line_ended(ui, ui->many_ticket, "no message", true);
	assert_string_equal(ui->message, "0 of 2 sessions are removed; you gave the rest up.");
	assert_false(ui->has_removed);
	remove_two(ui);
	ui_line_ended(ui, ui->many_ticket, "neither is removed", false);
	assert_false(ui->has_removed);
}

static void an_undo_waits_for_a_removal_of_many(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	remove_two(ui);
	list_remove(ui->list, list_find(ui->list, "id-a"));
	cleanup_free char *progress = ui_progress(ui);
	assert_string_equal(progress, "remove: 1 of 2 sessions");
	check(ui, KEYS('u'), "");
	assert_string_equal(ui->message, "Sessions are being removed: wait, or give the rest up "
					 "with Esc.");
	check(ui, KEYS(escape, 'u'), "halt");
	assert_string_equal(ui->message, "The last ones are on their way: wait for them.");
	ui_line_ended(ui, ui->many_ticket, "no message", true);
	assert_string_equal(ui->message, "1 of 2 sessions are removed; you gave the rest up.");
	assert_true(ui->has_removed);
	check(ui, KEYS('u'), "run undo");
}

static void enter_on_a_group_collapses_it(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(down, enter), "");
	assert_int_equal(list_lines(ui->list), 2);
	check(ui, KEYS('s'), "");
	assert_string_equal(ui->message, "All of this group run already.");
	check(ui, KEYS('x', 'y'), "run stop id-b");
	list_change(ui->list, list_find(ui->list, "id-b"),
		    &(struct facts){ .key.id = "id-b",
				     .title = "web",
				     .group = "work",
				     .doing = DOING_STOPPED });
	check(ui, KEYS('x'), "");
	assert_string_equal(ui->message, "None of this group runs.");
	check(ui, KEYS('s'), "run start id-b");
	check(ui, KEYS('m'), "");
	assert_string_equal(ui->message, "This is a group: move to a session, or choose all of the "
					 "group with Space.");
	for (const char *key = "AD"; *key; key++) {
		check(ui, KEYS((key_code)*key), "");
		assert_string_equal(ui->message, "No session is selected: move to one first.");
	}
	check(ui, KEYS(enter, down, enter, up), "attach id-b");
}

static void a_key_without_a_meaning_says_so(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('Q'), "");
	assert_string_equal(ui->message, "Q does nothing here; ? lists the keys.");
	check(ui, KEYS(down), "");
	assert_null(ui->message);
}

static void pasted_text_is_no_action(void **state UNUSED)
{
	static const key_code begin = KEY_CODE_PASTE, end = KEY_CODE_PASTE_END;
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(begin, 'd', 'd', 'q', enter, end), "");
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "Pasted text does nothing here: m sends a line.");
	/* Neither does it confirm. */
	check(ui, KEYS('x', begin, 'y', end), "");
	assert_int_equal(ui->mode, MODE_DIALOG);
	/* In a line it is text, and its end of line does not send it. */
	check(ui, KEYS(escape, 'm', begin, 'a', enter, 'b', end), "");
	check(ui, KEYS(enter), "line send --message-file - --session=id-a <a b");
	ui_line_ended(ui, ui->ticket, "sent", true);
	/* An end without a beginning, and a beginning without an end. */
	check(ui, KEYS(end, begin, 'q', 'C' & KEY_CODE_CTRL, 'q'), "quit");
}

/* Each search reads the whole list. */
static void a_paste_is_searched_once(void **state UNUSED)
{
	for (int is_pick = 0; is_pick < 2; is_pick++) {
		cleanup_ui struct ui *ui = make();
		if (is_pick)
			ui_begin_pick(ui);
		else
			check(ui, KEYS('/'), "");
		check(ui, KEYS(KEY_CODE_PASTE, 'w', 'e', 'b'), "");
		assert_int_equal(ui->searches, 0);
		check(ui, KEYS(KEY_CODE_PASTE_END), "");
		assert_int_equal(ui->searches, 1);
		assert_string_equal(ui->search, "web");
		assert_true(list_selected(ui->list) || !is_pick);
	}
}

static void help_goes_away_with_any_key(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('?', down, 'x'), "");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void the_keys_of_the_list_scroll_the_help(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('?', down, KEY_CODE_END), "");
	assert_int_equal(ui->mode, MODE_HELP);
	assert_true(ui->help_page > 1);
	check(ui, KEYS(KEY_CODE_HOME), "");
	assert_int_equal(ui->mode, MODE_HELP);
	assert_int_equal(ui->help_page, 0);
	/* What is looked for is text, until it is accepted or given up. */
	check(ui, KEYS('/', 'q', enter), "");
	assert_int_equal(ui->mode, MODE_HELP);
	assert_string_equal(ui->help_find, "q");
	check(ui, KEYS('/', 'x', escape), "");
	assert_int_equal(ui->mode, MODE_HELP);
	assert_null(ui->help_find);
	check(ui, KEYS('q'), "");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void what_is_advised_is_a_key(void **state UNUSED)
{
	static const struct {
		const char *told, *shown;
	} cases[] = {
		{ "api is not running: start it with agentdeck session start api",
		  "api is not running: start it with s" },
		{ "stop it with agentdeck stop id-a, then start it with agentdeck start 'api'",
		  "stop it with x, then start it with s" },
		{ "To restore it: agentdeck undo 0a1b2c3d", "To restore it: u" },
		{ "To restore the session: agentdeck undo", "To restore the session: u" },
		/* Of another session, or with more than a key says. */
		{ "attach to it with agentdeck attach web",
		  "attach to it with agentdeck attach web" },
		{ "with agentdeck start --fresh api", "with agentdeck start --fresh api" },
		{ "with agentdeck session set api path DIRECTORY",
		  "with agentdeck session set api path DIRECTORY" },
		{ "agentdeck start", "agentdeck start" },
		{ "with agentdeck start 'api", "with s" },
		{ "with agentdeck start api\\", "with agentdeck start api\\" },
	};
	cleanup_ui struct ui *ui = make();
	list_go(ui->list, 0);
	assert_string_equal(list_selected(ui->list)->title, "api");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ui_tell(ui, cases[i].told, true);
		assert_string_equal(ui->message, cases[i].shown);
	}
	/* While a line is typed, keys are text. */
	check(ui, KEYS('m'), "");
	ui_tell(ui, cases[0].told, true);
	assert_string_equal(ui->message, "api is not running: start it with Esc, then s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_for_the_selected_session),
		cmocka_unit_test(what_is_advised_is_a_key),
		cmocka_unit_test(actions_become_commands),
		cmocka_unit_test(a_line_waits_for_its_own_command),
		cmocka_unit_test(a_line_that_is_left_comes_back_if_it_fails),
		cmocka_unit_test(of_two_lines_that_fail_each_is_kept),
		cmocka_unit_test(a_switch_that_failed_late_says_nothing),
		cmocka_unit_test(what_is_not_confirmed_is_not_done),
		cmocka_unit_test(a_dialog_knows_the_keys_of_the_configuration),
		cmocka_unit_test(a_question_has_keys_of_the_usual_kind),
		cmocka_unit_test(enter_shows_changes_line_by_line),
		cmocka_unit_test(groups_are_renamed_and_found_by_their_number),
		cmocka_unit_test(a_refused_line_stays_open),
		cmocka_unit_test(a_typed_line_has_the_keys_of_its_user),
		cmocka_unit_test(what_is_told_names_the_keys_in_use),
		cmocka_unit_test(a_line_can_be_given_up),
		cmocka_unit_test(the_question_names_whom_it_is_about),
		cmocka_unit_test(an_answer_is_for_whom_the_question_named),
		cmocka_unit_test(the_mouse_selects_and_attaches),
		cmocka_unit_test(the_mouse_answers_nothing),
		cmocka_unit_test(a_search_narrows_as_it_is_typed),
		cmocka_unit_test(a_picker_only_chooses),
		cmocka_unit_test(a_picker_leaves_the_cursor_to_its_user),
		cmocka_unit_test(an_empty_deck_makes_the_first_sessions),
		cmocka_unit_test(it_begins_on_a_session),
		cmocka_unit_test(the_preview_is_there_where_it_fits),
		cmocka_unit_test(the_next_deck_begins_where_the_last_one_ended),
		cmocka_unit_test(what_is_too_long_to_send_stays),
		cmocka_unit_test(many_starts_ask_first),
		cmocka_unit_test(many_starts_show_how_far_they_are),
		cmocka_unit_test(a_removal_that_removed_nothing_is_not_undone),
		cmocka_unit_test(an_undo_waits_for_a_removal_of_many),
		cmocka_unit_test(enter_on_a_group_collapses_it),
		cmocka_unit_test(a_key_without_a_meaning_says_so),
		cmocka_unit_test(pasted_text_is_no_action),
		cmocka_unit_test(a_paste_is_searched_once),
		cmocka_unit_test(help_goes_away_with_any_key),
		cmocka_unit_test(the_keys_of_the_list_scroll_the_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
