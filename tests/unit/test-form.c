/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "ui/state/form.h"

static const key_code tab = KEY_CODE_TAB, down = KEY_CODE_DOWN, right = KEY_CODE_RIGHT,
		      up = KEY_CODE_UP;

static void open(struct form *form)
{
	struct form_supply supply = { .home = xstrdup("/home/u"), .installed = 2 };
	strvec_push_array(&supply.agents, (const char *const[]){ "claude", "codex", "amp", NULL });
	strvec_push_array(&supply.recents, (const char *const[]){ "/r/one", "/r/two", NULL });
	strvec_push_array(&supply.groups,
			  (const char *const[]){ "play", "work", "work/api", "work/web", NULL });
	strvec_push(&supply.boxed, "work/api");
	form_open(form, &supply, "/here", "work");
	assert_ptr_equal(supply.agents.items, NULL);
}

static enum form_result press_one(struct form *form, key_code key)
{
	struct keymap keymap;
	keymap_init(&keymap);
	return form_key(form, &keymap, key);
}

static void press(struct form *form, const key_code *keys)
{
	for (; *keys; keys++)
		(void)press_one(form, *keys);
}
#define KEYS(...) ((const key_code[]){ __VA_ARGS__, 0 })

static void check_line(const struct form *form, const char *expected)
{
	cleanup_free char *line = form_line(form, "default");
	assert_string_equal(line, expected);
}

#define CLAUDE "agentdeck launch --agent claude "
#define CODEX  "agentdeck launch --agent codex "

static void the_fields_make_a_command_line(void **state UNUSED)
{
	static const struct {
		key_code keys[16];
		const char *line;
	} cases[] = {
		{ { 0 }, CLAUDE "--group work --no-wait /here" },
		{ { down, right }, CODEX "--group work --no-wait /here" },
		{ { down, 'a' }, "agentdeck launch --agent amp --group work --no-wait /here" },
		{ { down, 'c', 'o' }, CODEX "--group work --no-wait /here" },
		{ { down, 'c' }, CODEX "--group work --no-wait /here" },
		{ { down, 'a', 'c', 'l' }, CLAUDE "--group work --no-wait /here" },
		/* the one behind the last: another command */
		{ { down, KEY_CODE_LEFT, down, 'l', 's', ' ', '-', 'l' },
		  "agentdeck launch --cmd 'ls -l' --group work --no-wait /here" },
		{ { up, up, right }, CLAUDE "--no-container --group work --no-wait /here" },
		{ { up, up, right, right, down, 'i' },
		  CLAUDE "--container --image i --group work --no-wait /here" },
		{ { up, up, up, right, down, 'b' },
		  CLAUDE "--worktree --branch b --group work --no-wait /here" },
		{ { up, up, up, KEY_CODE_LEFT, down, 'b' },
		  CLAUDE "--clone --branch b --group work --no-wait /here" },
		{ { down, down, 't', ' ', 't' },
		  CLAUDE "--group work --title 't t' --no-wait /here" },
		/* by standard input: everybody can read a command line */
		{ { down, down, down, 'h', 'i' }, CLAUDE "--group work --message-file - /here" },
		{ { 'U' & KEY_CODE_CTRL }, CLAUDE "--group work --no-wait ." },
		{ { 'U' & KEY_CODE_CTRL, '-', 'x' }, CLAUDE "--group work --no-wait ./-x" },
		{ { 'U' & KEY_CODE_CTRL, '~', '/', 'x' },
		  CLAUDE "--group work --no-wait /home/u/x" },
		{ { 'R' & KEY_CODE_CTRL }, CLAUDE "--group work --no-wait /r/one" },
		{ { 'R' & KEY_CODE_CTRL, 'R' & KEY_CODE_CTRL },
		  CLAUDE "--group work --no-wait /r/two" },
		{ { down, right, 'X' & KEY_CODE_CTRL }, CLAUDE "--no-wait ." },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct form form = { 0 };
		open(&form);
		press(&form, cases[i].keys);
		check_line(&form, cases[i].line);
		form_free(&form);
	}
}

static void a_form_whose_command_runs_stays(void **state UNUSED)
{
	struct form form = { 0 };
	open(&form);
	input_set(&form.texts[FIELD_GROUP], "pl");
	form.is_running = true;
	assert_int_equal(press_one(&form, tab), FORM_STAYS);
	assert_int_equal(form.at, FIELD_AGENT);
	press(&form, KEYS(up, up, 'x', tab));
	assert_int_equal(form.at, FIELD_DIRECTORY);
	check_line(&form, CLAUDE "--group pl --no-wait /here");
	form_free(&form);
}

/* What is hidden does not count. */
static void a_field_that_is_not_there_says_nothing(void **state UNUSED)
{
	struct form form = { 0 };
	enum form_field fields[FIELD_COUNT];
	open(&form);
	press(&form, KEYS(up, up, up, right, down, 'b', up));
	assert_int_equal(form_fields(&form, fields), 8);
	press(&form, KEYS(KEY_CODE_LEFT));
	assert_int_equal(form_fields(&form, fields), 7);
	check_line(&form, CLAUDE "--group work --no-wait /here");
	press(&form, KEYS(right));
	check_line(&form, CLAUDE "--worktree --branch b --group work --no-wait /here");
	form_free(&form);
}

static void another_profile_is_named(void **state UNUSED)
{
	struct form form = { 0 };
	open(&form);
	cleanup_free char *line = form_line(&form, "p");
	assert_string_equal(
		line, "agentdeck --profile p launch --agent claude --group work --no-wait /here");
	form_free(&form);
}

/* The directory that is looked at, and what it becomes with these names in it. */
static void directories_are_completed(void **state UNUSED)
{
	static const struct {
		const char *typed, *directory, *becomes;
		size_t found;
		enum form_field at;
	} cases[] = {
		{ "/s/al", "/s/", "/s/alpha", 2, FIELD_DIRECTORY },
		{ "/s/alphab", "/s/", "/s/alphabet/", 0, FIELD_DIRECTORY },
		{ "~/b", "/home/u/", "~/b\303\241", 2, FIELD_DIRECTORY },
		{ "z", "./", "z", 0, FIELD_AGENT },
		{ ".h", "./", ".hidden/", 0, FIELD_DIRECTORY },
		{ "/s/", "/s/", "/s/", 4, FIELD_DIRECTORY },
	};
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names,
			  (const char *const[]){ ".hidden", "alpha", "alphabet",
						 "b\303\241\303\251", "b\303\241\303\250", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct form form = { 0 };
		open(&form);
		input_set(&form.texts[FIELD_DIRECTORY], cases[i].typed);
		assert_int_equal(press_one(&form, tab), FORM_COMPLETE);
		cleanup_free char *directory = form_directory(&form);
		assert_string_equal(directory, cases[i].directory);
		form_complete(&form, &names);
		assert_string_equal(input_text(&form.texts[FIELD_DIRECTORY]), cases[i].becomes);
		assert_int_equal(form.found.count, cases[i].found);
		assert_int_equal(form.at, cases[i].at);
		form_free(&form);
	}
}

static void groups_are_completed(void **state UNUSED)
{
	static const struct {
		const char *typed, *note, *becomes;
		size_t found;
		enum form_field at;
	} cases[] = {
		{ "", "play  work  work/api  work/web", "", 4, FIELD_GROUP },
		{ "wo", "work  work/api  work/web", "work", 3, FIELD_GROUP },
		{ "work/a", "work/api", "work/api", 0, FIELD_GROUP },
		{ "play", "work  work/api  work/web", "play", 0, FIELD_DIRECTORY },
		{ "new", "such as work/api", "new", 0, FIELD_DIRECTORY },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct form form = { 0 };
		open(&form);
		form.at = FIELD_GROUP;
		input_set(&form.texts[FIELD_GROUP], cases[i].typed);
		cleanup_free char *note = form_note(&form, FIELD_GROUP);
		assert_string_equal(note, cases[i].note);
		assert_int_equal(press_one(&form, tab), FORM_STAYS);
		assert_string_equal(input_text(&form.texts[FIELD_GROUP]), cases[i].becomes);
		assert_int_equal(form.found.count, cases[i].found);
		assert_int_equal(form.at, cases[i].at);
		/* Once more: on to the next field. */
		const bool is_left = form.at != FIELD_GROUP;
		press(&form, KEYS(tab));
		assert_true(is_left || form.at == FIELD_DIRECTORY);
		form_free(&form);
	}
}

static void what_counts_is_shown(void **state UNUSED)
{
	static const struct {
		const char *group, *place;
	} cases[] = {
		{ "", "usual: host" },
		{ "work", "usual: host" },
		{ "work/api", "usual: container" },
		{ "work/api/new/one", "usual: container" },
		{ "work/new", "usual: host" },
		{ "none", "usual: host" },
	};
	struct form form = { 0 };
	open(&form);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		input_set(&form.texts[FIELD_GROUP], cases[i].group);
		assert_string_equal(form_choice(&form, FIELD_PLACE, 0), cases[i].place);
	}
	cleanup_free char *branch = form_note(&form, FIELD_BRANCH);
	assert_string_equal(branch, "empty: agentdeck/here");
	input_set(&form.texts[FIELD_TITLE], "Fix the login!");
	cleanup_free char *other = form_note(&form, FIELD_BRANCH);
	assert_string_equal(other, "empty: agentdeck/fix-the-login");
	form_free(&form);
}

static void what_was_typed_outlives_the_form(void **state UNUSED)
{
	struct form form = { 0 };
	open(&form);
	assert_int_equal(press_one(&form, KEY_CODE_ESCAPE), FORM_LEFT);
	assert_false(form.is_begun);
	press(&form, KEYS(down, right, up, 'x'));
	assert_int_equal(press_one(&form, 'C' & KEY_CODE_CTRL), FORM_LEFT);
	assert_true(form.is_begun);
	/* the agent is found again among others */
	struct form_supply supply = { 0 };
	strvec_push_array(&supply.agents, (const char *const[]){ "codex", NULL });
	form_open(&form, &supply, "/there", "");
	check_line(&form, "agentdeck launch --agent codex --group work --no-wait /herex");
	form_free(&form);
}

static void nothing_changes_while_the_command_runs(void **state UNUSED)
{
	struct form form = { 0 };
	open(&form);
	form.is_running = true;
	press(&form, KEYS('x', 'X' & KEY_CODE_CTRL, down, right));
	form_paste(&form, 'x');
	assert_int_equal(press_one(&form, KEY_CODE_ENTER), FORM_STAYS);
	check_line(&form, CLAUDE "--group work --no-wait /here");
	form_free(&form);
}

static void what_is_pasted_is_text(void **state UNUSED)
{
	struct form form = { 0 };
	open(&form);
	press(&form, KEYS(down, down, down));
	form_paste(&form, 'a');
	form_paste(&form, KEY_CODE_ENTER);
	form_paste(&form, 'b');
	assert_string_equal(input_text(&form.texts[FIELD_MESSAGE]), "a b");
	/* and no choice */
	press(&form, KEYS(up, up));
	form_paste(&form, 'c');
	assert_int_equal(form.chosen[FIELD_AGENT], 0);
	form_free(&form);
}

static void a_form_has_the_keys_of_its_user(void **state UNUSED)
{
	static const char *const bindings[] = { "form.next=Ctrl-N",       "form.previous=Ctrl-P",
						"form.accept=F2",         "form.cancel=F3",
						"form.complete=Ctrl-T",   "form.recent=Ctrl-O",
						"form.choose-next=+",     "form.clear=Ctrl-K",
						"form.choose-previous=-", "line.backspace=Ctrl-G" };
	struct keymap keymap;
	struct form form = { 0 };
	keymap_init(&keymap);
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		assert_int_equal(keymap_bind(&keymap, bindings[i], NULL), 0);
	open(&form);
	assert_int_equal(form_key(&form, &keymap, 'T' & KEY_CODE_CTRL), FORM_COMPLETE);
	assert_int_equal(form_key(&form, &keymap, 'O' & KEY_CODE_CTRL), FORM_STAYS);
	check_line(&form, CLAUDE "--group work --no-wait /r/one");
	assert_int_equal(form_key(&form, &keymap, 'G' & KEY_CODE_CTRL), FORM_STAYS);
	check_line(&form, CLAUDE "--group work --no-wait /r/on");
	assert_int_equal(form_key(&form, &keymap, 'N' & KEY_CODE_CTRL), FORM_STAYS);
	for (const char *key = "++-"; *key; key++)
		assert_int_equal(form_key(&form, &keymap, (key_code)*key), FORM_STAYS);
	check_line(&form, CODEX "--group work --no-wait /r/on");
	/* The usual ones are no keys now; Enter and Esc always are. */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(form_key(&form, &keymap,
					  (const key_code[]){ down, up, tab, right }[i]),
				 FORM_STAYS);
	assert_int_equal(form.at, FIELD_AGENT);
	check_line(&form, CODEX "--group work --no-wait /r/on");
	assert_int_equal(form_key(&form, &keymap, KEY_CODE_F1 + 1), FORM_DONE);
	assert_int_equal(form_key(&form, &keymap, KEY_CODE_F1 + 2), FORM_LEFT);
	assert_int_equal(form_key(&form, &keymap, KEY_CODE_ENTER), FORM_DONE);
	assert_int_equal(form_key(&form, &keymap, KEY_CODE_ESCAPE), FORM_LEFT);
	assert_int_equal(form_key(&form, &keymap, 'P' & KEY_CODE_CTRL), FORM_STAYS);
	assert_int_equal(form.at, FIELD_DIRECTORY);
	assert_int_equal(form_key(&form, &keymap, 'K' & KEY_CODE_CTRL), FORM_STAYS);
	check_line(&form, CLAUDE "--no-wait .");
	form_free(&form);
}

static void what_failed_is_told_until_something_changes(void **state UNUSED)
{
	static const key_code changes[] = { 'x', 'R' & KEY_CODE_CTRL };
	struct form form = { 0 };
	open(&form);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		replace_string(&form.problem, "no such directory");
		press(&form, KEYS(KEY_CODE_LEFT, down, up));
		assert_non_null(form.problem);
		press(&form, KEYS(changes[i]));
		assert_null(form.problem);
	}
	press(&form, KEYS(down));
	replace_string(&form.problem, "no such agent");
	press(&form, KEYS(right));
	assert_null(form.problem);
	form_free(&form);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fields_make_a_command_line),
		cmocka_unit_test(a_form_whose_command_runs_stays),
		cmocka_unit_test(a_field_that_is_not_there_says_nothing),
		cmocka_unit_test(another_profile_is_named),
		cmocka_unit_test(directories_are_completed),
		cmocka_unit_test(groups_are_completed),
		cmocka_unit_test(what_counts_is_shown),
		cmocka_unit_test(what_was_typed_outlives_the_form),
		cmocka_unit_test(nothing_changes_while_the_command_runs),
		cmocka_unit_test(what_is_pasted_is_text),
		cmocka_unit_test(a_form_has_the_keys_of_its_user),
		cmocka_unit_test(what_failed_is_told_until_something_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
