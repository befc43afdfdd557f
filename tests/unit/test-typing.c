/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys that are typed in the deck for an agent.
 */
#include "unit/test.h"

#include "ui/state/ui.h"

#include <string.h>

static const key_code enter = KEY_CODE_ENTER, escape = KEY_CODE_ESCAPE;

static struct ui *make(void)
{
	struct ui *ui = ui_new("default");
	list_add(ui->list,
		 &(struct facts){
			 .key.id = "id-a", .title = "api", .created_us = 1, .doing = DOING_IDLE });
	list_add(ui->list, &(struct facts){ .key.id = "id-b",
					    .title = "web",
					    .created_us = 2,
					    .doing = DOING_STOPPED });
	return ui;
}

/* Returns how many of the keys, up to 0, have something passed on. */
static size_t press(struct ui *ui, const key_code *keys)
{
	size_t passed = 0;
	for (; *keys; keys++) {
		cleanup_wish struct wish wish = { 0 };
		ui_key(ui, *keys, &wish);
		assert_true(wish.kind == WISH_NOTHING || wish.kind == WISH_TYPE);
		passed += wish.kind == WISH_TYPE;
	}
	return passed;
}
#define PRESS(ui, ...) press(ui, (const key_code[]){ __VA_ARGS__, 0 })

/* What is to be passed on: "text hi;key Enter;". */
static void check_strokes(struct ui *ui, const char *expected)
{
	static const char *const kinds[] = { "text", "key", "paste" };
	cleanup_strbuf struct strbuf text = { 0 };
	struct stroke stroke;
	while (typing_take(&ui->typing, &stroke)) {
		strbuf_addf(&text, "%s %s;", kinds[stroke.kind], stroke.text);
		stroke_clear(&stroke);
	}
	assert_string_equal(strbuf_text(&text), expected);
}

static void all_keys_are_passed_on_in_order(void **state UNUSED)
{
	static const struct {
		key_code keys[12];
		const char *strokes;
	} cases[] = {
		{ { 'h', 'i', ' ', 0xFC, ';' }, "text hi \xC3\xBC;;" },
		{ { 'q', enter, 'd' }, "text q;key Enter;text d;" },
		{ { 'C' & KEY_CODE_CTRL, 'Z' & KEY_CODE_CTRL, KEY_CODE_TAB, KEY_CODE_BACKTAB },
		  "key C-c;key C-z;key Tab;key BTab;" },
		{ { ']' & KEY_CODE_CTRL, '\\' & KEY_CODE_CTRL, '_' & KEY_CODE_CTRL },
		  "key Escape;key C-\\;key C-_;" },
		{ { KEY_CODE_UP, KEY_CODE_DOWN, KEY_CODE_LEFT, KEY_CODE_RIGHT, KEY_CODE_PAGE_UP,
		    KEY_CODE_PAGE_DOWN, KEY_CODE_HOME, KEY_CODE_END },
		  "key Up;key Down;key Left;key Right;key PPage;key NPage;key Home;key End;" },
		{ { KEY_CODE_DELETE, KEY_CODE_BACKSPACE, KEY_CODE_F1, KEY_CODE_LAST },
		  "key DC;key BSpace;key F1;key F12;" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		assert_int_equal(PRESS(ui, 'i'), 1);
		(void)press(ui, cases[i].keys);
		check_strokes(ui, cases[i].strokes);
		assert_int_equal(ui->mode, MODE_AGENT);
	}
}

static void it_shows_the_screen_until_it_is_left(void **state UNUSED)
{
	static const key_code ways[] = { KEY_CODE_ESCAPE, 'Q' & KEY_CODE_CTRL };
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_ui struct ui *ui = make();
		ui->preview.kind = PREVIEW_FACTS;
		assert_int_equal(PRESS(ui, 'i'), 1);
		assert_int_equal(ui->preview.kind, PREVIEW_SCREEN);
		assert_int_equal(PRESS(ui, 'x', ways[i]), 1);
		assert_int_equal(ui->mode, MODE_LIST);
		assert_int_equal(ui->preview.kind, PREVIEW_FACTS);
		/* What was typed last is still on its way. */
		check_strokes(ui, "text x;");
		ui_typed(ui);
		assert_null(ui->typing.id);
	}
}

static void a_key_that_has_no_name_is_told(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(PRESS(ui, 'i', KEY_CODE_WHEEL_DOWN + 1), 1);
	assert_non_null(strstr(ui->message, "attach to the session"));
	check_strokes(ui, "");
}

static void a_stopped_session_is_refused(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(PRESS(ui, KEY_CODE_DOWN, 'i'), 0);
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "web does not run: start it first.");
}

/* Its lines are not separate: each would be sent. */
static void a_paste_is_one(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	assert_int_equal(PRESS(ui, 'i', KEY_CODE_PASTE, 'a', enter, 033, 'b', KEY_CODE_TAB,
			       KEY_CODE_PASTE_END, 'c'),
			 3);
	check_strokes(ui, "paste a\nb\t;text c;");
	/* The list takes none of what is pasted when the user has left. */
	assert_int_equal(PRESS(ui, escape, KEY_CODE_PASTE, 'q', KEY_CODE_PASTE_END), 0);
	assert_int_equal(ui->mode, MODE_LIST);
}

/* A pipe takes 64 KiB. */
static void a_long_paste_comes_in_parts(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	struct stroke stroke;
	size_t length = 0, count = 0;
	(void)PRESS(ui, 'i', KEY_CODE_PASTE);
	for (size_t i = 0; i < 90000; i++)
		(void)PRESS(ui, 0x20AC);
	(void)PRESS(ui, KEY_CODE_PASTE_END);
	while (typing_take(&ui->typing, &stroke)) {
		assert_true(is_utf8(stroke.text, strlen(stroke.text)));
		assert_true(strlen(stroke.text) < 60000);
		length += strlen(stroke.text);
		count++;
		stroke_clear(&stroke);
	}
	assert_int_equal(length, 270000);
	assert_int_equal(count, 6);
}

/* The agent has gone: what it may not have becomes a message that is not sent. */
static void what_did_not_arrive_is_kept(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	(void)PRESS(ui, 'i', 'n', 'o', KEY_CODE_BACKSPACE, enter, 'o', 'n', 'e');
	ui_type_failed(ui, "api did not take it.");
	assert_int_equal(ui->mode, MODE_LINE);
	assert_int_equal(ui->pending, ACTION_SEND);
	assert_string_equal(ui->question, "Send to api: ");
	assert_string_equal(input_text(&ui->input), "n one");
	assert_string_equal(ui->message, "api did not take it.");
	/* What follows is text, and no action: also an Enter that was typed ahead. */
	(void)PRESS(ui, enter);
	assert_int_equal(ui->mode, MODE_LINE);
	assert_false(ui->is_waiting);
	(void)PRESS(ui, 'q');
	assert_string_equal(input_text(&ui->input), "n oneq");
	/* Also when it is left. */
	(void)PRESS(ui, escape, KEY_CODE_DOWN, 'm');
	assert_string_equal(input_text(&ui->input), "");
	(void)PRESS(ui, escape, KEY_CODE_UP, 'm');
	assert_string_equal(input_text(&ui->input), "n oneq");
}

/* Its words stay apart, and it is as long as it was. */
static void a_paste_that_did_not_arrive_is_kept(void **state UNUSED)
{
	enum { LENGTH = 30000 };
	cleanup_ui struct ui *ui = make();
	(void)PRESS(ui, 'i', KEY_CODE_PASTE, 'o', 'n', 'e', enter, 't', 'w', 'o', KEY_CODE_TAB, 'x',
		    KEY_CODE_PASTE_END);
	ui_type_failed(ui, "api did not take it.");
	assert_string_equal(input_text(&ui->input), "one two x");
	/* An agent that goes away in between. */
	cleanup_ui struct ui *other = make();
	(void)PRESS(other, 'i', KEY_CODE_PASTE);
	for (size_t i = 0; i < LENGTH; i++)
		(void)PRESS(other, 'y');
	ui_type_failed(other, "api did not take it.");
	(void)PRESS(other, enter, 'z', KEY_CODE_PASTE_END);
	assert_string_equal(other->question, "Send to api: ");
	assert_int_equal(strlen(input_text(&other->input)), LENGTH + 2);
}

static void what_has_arrived_is_not_sent_again(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	(void)PRESS(ui, 'i', 'o', 'n', 'e', enter);
	check_strokes(ui, "text one;key Enter;");
	ui_typed(ui);
	ui_type_failed(ui, "gone");
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(ui->message, "gone");
	assert_string_equal(input_text(&ui->input), "");
	/* The user who types on stops no session. */
	(void)PRESS(ui, 'x', 'y', enter);
	assert_string_equal(input_text(&ui->input), "xy");
	assert_int_equal(ui->mode, MODE_LINE);
}

static void nothing_opens_for_a_user_who_has_left(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	(void)PRESS(ui, 'i', 'o', KEY_CODE_ESCAPE);
	assert_int_equal(ui->mode, MODE_LIST);
	ui_type_failed(ui, "late");
	assert_int_equal(ui->mode, MODE_LIST);
	(void)PRESS(ui, 'm');
	assert_string_equal(input_text(&ui->input), "o");
}

static void the_end_of_the_session_is_seen(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	(void)PRESS(ui, 'i', 'o');
	list_change(ui->list, list_find(ui->list, "id-a"),
		    &(struct facts){ .key.id = "id-a", .title = "api", .doing = DOING_STOPPED });
	ui_settle_typing(ui);
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(ui->message, "api does not run any more.");
	cleanup_ui struct ui *other = make();
	(void)PRESS(other, 'i', 'o');
	list_remove(other->list, list_find(other->list, "id-a"));
	ui_settle_typing(other);
	assert_int_equal(other->mode, MODE_LINE);
	assert_string_equal(input_text(&other->input), "o");
}

/* A filter hides the session, as soon as it does not wait any more: the preview stays with it. */
static void the_session_stays_the_one_that_was_chosen(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	struct item *api = list_find(ui->list, "id-a");
	list_change(ui->list, api,
		    &(struct facts){ .key.id = "id-a", .title = "api", .doing = DOING_WAITING });
	list_add(ui->list,
		 &(struct facts){ .key.id = "id-c", .title = "other", .doing = DOING_WAITING });
	(void)PRESS(ui, 'f', KEY_CODE_HOME);
	(void)list_select(ui->list, api);
	(void)PRESS(ui, 'i', '1');
	list_change(ui->list, api,
		    &(struct facts){ .key.id = "id-a", .title = "api", .doing = DOING_BUSY });
	assert_ptr_not_equal(list_selected(ui->list), api);
	assert_ptr_equal(ui_previewed(ui), api);
	ui_settle_typing(ui);
	assert_int_equal(PRESS(ui, 'a'), 1);
	assert_int_equal(ui->mode, MODE_AGENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_keys_are_passed_on_in_order),
		cmocka_unit_test(it_shows_the_screen_until_it_is_left),
		cmocka_unit_test(a_key_that_has_no_name_is_told),
		cmocka_unit_test(a_stopped_session_is_refused),
		cmocka_unit_test(a_paste_is_one),
		cmocka_unit_test(a_long_paste_comes_in_parts),
		cmocka_unit_test(what_did_not_arrive_is_kept),
		cmocka_unit_test(a_paste_that_did_not_arrive_is_kept),
		cmocka_unit_test(what_has_arrived_is_not_sent_again),
		cmocka_unit_test(nothing_opens_for_a_user_who_has_left),
		cmocka_unit_test(the_end_of_the_session_is_seen),
		cmocka_unit_test(the_session_stays_the_one_that_was_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
