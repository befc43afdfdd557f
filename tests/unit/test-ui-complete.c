/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The line behind ":" in the deck.
 */
#include "unit/ui-fixture.h"

static const key_code tab = KEY_CODE_TAB;

/* Type this line after ":", and then Tab. */
static void type(struct ui *ui, const char *line, const char *asks)
{
	check(ui, KEYS(':'), "");
	for (const char *at = line; *at; at++)
		check(ui, KEYS((key_code)*at), "");
	check(ui, KEYS(tab), asks);
}

static void tab_completes_the_last_word(void **state UNUSED)
{
	static const struct {
		const char *line, *asks, *says, *completed, *message;
	} cases[] = {
		{ "ou", "complete help --complete -- ou", "none\noutput\tshow\n", "output ", NULL },
		{ "st", "complete help --complete -- st", "none\nstart\tx\nstop\ty\nlist\n", "st",
		  "start  stop" },
		{ "stop a", "complete help --complete -- stop a",
		  "none\napi: one\tdir\napi: two\tdir\n", "stop 'api: '", "api: one  api: two" },
		{ "stop 'api: o", "complete help --complete -- stop api: o", "none\napi: one\n",
		  "stop 'api: one' ", NULL },
		{ "stop ", "complete help --complete -- stop ", "none\nweb\n", "stop web ", NULL },
		{ "stop x", "complete help --complete -- stop x", "directories\nweb\n", "stop x",
		  "agentdeck knows nothing that begins so." },
		{ "stop x", "complete help --complete -- stop x", "", "stop x",
		  "agentdeck knows nothing that begins so." },
		/* what a terminal would obey */
		{ "stop ", "complete help --complete -- stop ", "none\na\033[2Jb\na\033[2Jc\n",
		  "stop 'a\\033[2J'", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		type(ui, cases[i].line, cases[i].asks);
		ui_completed(ui, cases[i].says);
		cleanup_free char *shown = visible(input_text(&ui->input));
		assert_string_equal(shown, cases[i].completed);
		if (cases[i].message)
			assert_string_equal(ui->message, cases[i].message);
		assert_int_equal(ui->mode, MODE_LINE);
	}
}

/* Before the cursor, and what is behind it stays. */
static void the_word_at_the_cursor_is_completed(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(':', 'o', 'u', ' ', 'x', KEY_CODE_LEFT, KEY_CODE_LEFT, tab),
	      "complete help --complete -- ou");
	ui_completed(ui, "none\noutput\n");
	assert_string_equal(input_text(&ui->input), "output  x");
}

static void what_comes_too_late_changes_nothing(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	type(ui, "ou", "complete help --complete -- ou");
	check(ui, KEYS('x'), "");
	ui_completed(ui, "none\noutput\n");
	assert_string_equal(input_text(&ui->input), "oux");
	check(ui, KEYS(KEY_CODE_ESCAPE), "");
	ui_completed(ui, "none\noutput\n");
	assert_int_equal(ui->mode, MODE_LIST);
	/* It is a key of that line alone. */
	check(ui, KEYS('m', tab), "");
}

static void a_branch_is_completed_in_the_form(void **state UNUSED)
{
	struct form_supply supply = { 0 };
	cleanup_ui struct ui *ui = make();
	ui_open_form(ui, &supply, "-d");
	ui->form.chosen[FIELD_WORKSPACE] = 1;
	ui->form.at = FIELD_BRANCH;
	check(ui, KEYS('f', tab), "complete help --complete -- launch ./-d --branch f");
	check(ui, KEYS('i'), "");
	ui_completed(ui, "none\nfix-b\n");
	assert_string_equal(input_text(&ui->form.texts[FIELD_BRANCH]), "fi");
	check(ui, KEYS(tab), "complete help --complete -- launch ./-d --branch fi");
	ui_completed(ui, "none\nmain\nfix-a\nfix-b\nfi\xFF\n");
	assert_string_equal(input_text(&ui->form.texts[FIELD_BRANCH]), "fix-");
	assert_int_equal(ui->form.found.count, 2);
	/* Once more: the next field. */
	check(ui, KEYS(tab), "");
	assert_int_equal(ui->form.at, FIELD_PLACE);
	ui_completed(ui, "none\nfix-a\n");
	assert_string_equal(input_text(&ui->form.texts[FIELD_BRANCH]), "fix-");
}

static void a_line_that_failed_is_there_again(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(':', 'p', KEY_CODE_ENTER), "show with-session id-a -- p");
	ui_shown(ui, false);
	assert_int_equal(ui->mode, MODE_LINE);
	assert_string_equal(input_text(&ui->input), "p");
	assert_string_equal(ui->question, "Command with api: ");
	/* Left, it is kept; done, it is over. */
	check(ui, KEYS(KEY_CODE_ESCAPE), "");
	assert_string_equal(ui->message, "What you typed is kept; : shows it again.");
	check(ui, KEYS(':', KEY_CODE_ENTER), "show with-session id-a -- p");
	ui_shown(ui, true);
	assert_int_equal(ui->mode, MODE_LIST);
	check(ui, KEYS(':'), "");
	assert_string_equal(input_text(&ui->input), "");
	/* It is refused before it runs. */
	check(ui, KEYS('a', '|', KEY_CODE_ENTER), "");
	assert_string_equal(input_text(&ui->input), "a|");
	assert_true(ui->is_bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tab_completes_the_last_word),
		cmocka_unit_test(the_word_at_the_cursor_is_completed),
		cmocka_unit_test(what_comes_too_late_changes_nothing),
		cmocka_unit_test(a_branch_is_completed_in_the_form),
		cmocka_unit_test(a_line_that_failed_is_there_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
