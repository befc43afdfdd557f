/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agentdeck asks before it does something, and what the answers make the program do.
 */
#include "unit/ui-fixture.h"

#include <string.h>

#define CHOICE(kind)           "{\"kind\": \"" kind "\", \"label\": \"" kind "\"}"
#define ONE(choices)           "{\"title\": \"t\", \"prompt\": \"p\", \"choices\": [" choices "]}"
#define ASKS(about, questions) ASKS_OF("id-a", about, questions)
#define ASKS_OF(id, about, questions)                                         \
	"{\"id\": \"" id "\", \"about\": \"" about "\", \"seen\": \"5ee9\", " \
	"\"questions\": [" questions "]}"
#define SEEN ONE(CHOICE("continue"))
static const char asks_nothing[] = ASKS("nothing", "");
static const char asks_end[] = ASKS(
	"end", SEEN "," ONE(CHOICE("return") "," CHOICE("keep") "," CHOICE("clean")));
static const char asks_launch[] = ASKS_OF(
	"/here", "launch",
	ONE(CHOICE("new") ",{\"kind\": \"resume\", \"label\": \"r\", \"session\": \"id-a\"}"));
static const char asks_reuse[] = ASKS("reuse", ONE(CHOICE("keep") "," CHOICE("return")));
static const char asks_removal[] = ASKS("removal",
					SEEN "," ONE(CHOICE("keep") "," CHOICE("clean")));

static const char asks_conflict[] = ASKS(
	"conflict", ONE(CHOICE("keep") "," CHOICE("attach") "," CHOICE("fork") "," CHOICE("take")));

static struct ui *make_undecided(void)
{
	struct ui *ui = ui_new("default");
	list_add(ui->list,
		 &(struct facts){
			 .key.id = "id-a", .title = "api", .created_us = 1, .asks_first = true });
	return ui;
}

/* What agentdeck says on this occasion becomes a command at once, or nothing. */
static void check_said(struct ui *ui, const char *occasion, const char *text, const char *expected)
{
	cleanup_wish struct wish wish = { 0 };
	cleanup_strbuf struct strbuf words = { 0 };
	cleanup_free char *said = text && *text == '{' ? xasprintf("{\"occasion\": \"%s\", %s",
								   occasion, text + 1)
						       : xstrdup_or_null(text);
	ui_asked(ui, ui->ticket, said, &wish);
	for (size_t i = 0; i < wish.words.count; i++)
		strbuf_addf(&words, "%s%s", i ? " " : "", wish.words.items[i]);
	if (wish.input)
		strbuf_addf(&words, " <%s", wish.input);
	assert_string_equal(strbuf_text(&words), expected);
}

/* On the one that the last keys have asked about. */
static void check_asked(struct ui *ui, const char *text, const char *expected)
{
	check_said(ui, asked_occasion, text, expected);
}

/* ---- the form --------------------------------------------------------------------------------- */

static void open_form(struct ui *ui)
{
	struct form_supply supply = { 0 };
	check(ui, KEYS('c'), "form");
	ui_open_form(ui, &supply, "/here");
	assert_int_equal(ui->mode, MODE_FORM);
}

static void a_form_becomes_a_command(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	open_form(ui);
	check(ui, KEYS(down, down, down, down, 'h', 'i', enter), "ask settle --json launch /here");
	check_asked(ui, ASKS_OF("/here", "nothing", ""), "launch --message-file - /here <hi");
	/* once */
	check(ui, KEYS(enter), "");
	ui_launched(ui, "api: made and started", true);
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "api: made and started");
	open_form(ui);
	check(ui, KEYS(enter), "ask settle --json launch /here");
	check_asked(ui, ASKS_OF("/here", "nothing", ""), "launch --no-wait /here");
}

static void a_form_takes_a_role(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	open_form(ui);
	check(ui, KEYS(up, up, 'r', enter), "ask settle --json launch /here");
	check_asked(ui, ASKS_OF("/here", "nothing", ""), "launch --devcontainer --no-wait /here");
	ui_launched(ui, "not yet", false);
	check(ui, KEYS(down, 'a', enter), "ask settle --json launch /here");
	check_asked(ui, ASKS_OF("/here", "nothing", ""), "launch --role a --no-wait /here");
}

static void a_form_survives_a_failure_and_an_escape(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	open_form(ui);
	check(ui, KEYS(escape), "");
	assert_ptr_equal(ui->message, NULL);
	open_form(ui);
	check(ui, KEYS('x', enter), "ask settle --json launch /herex");
	check_asked(ui, ASKS_OF("/herex", "nothing", ""), "launch --no-wait /herex");
	ui_tell(ui, "api: stopped", false);
	ui_launched(ui, "no such directory", false);
	assert_null(ui->message);
	assert_int_equal(ui->mode, MODE_FORM);
	assert_string_equal(ui->form.problem, "no such directory");
	check(ui, KEYS(escape), "");
	assert_string_equal(ui->message, "What you typed is kept; c shows the form again.");
	open_form(ui);
	check(ui, KEYS('y', enter), "ask settle --json launch /herexy");
	/* the question has failed */
	check_asked(ui, NULL, "");
	assert_int_equal(ui->mode, MODE_FORM);
	check(ui, KEYS(enter), "ask settle --json launch /herexy");
	check_asked(ui, ASKS_OF("/herexy", "nothing", ""), "launch --no-wait /herexy");
	check(ui, KEYS(escape), "");
	assert_string_equal(ui->message, "It is being made; c shows the form again.");
	/* its user is elsewhere */
	ui_launched(ui, "no such directory", false);
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "no such directory");
	open_form(ui);
	check(ui, KEYS(enter), "ask settle --json launch /herexy");
}

/* Screens C and D, and the end of one that is undecided. */
static void another_session_is_resumed_instead(void **state UNUSED)
{
	static const struct {
		key_code first[4];
		const char *then, *says, *wish;
		key_code second[4];
		const char *last;
	} cases[] = {
		{ { KEY_CODE_ENTER }, "launch launch --no-wait /here", NULL, NULL, { 0 }, NULL },
		{ { KEY_CODE_ESCAPE }, "", NULL, NULL, { 0 }, NULL },
		{ { 'j', KEY_CODE_ENTER },
		  "ask settle --json -- resume id-a",
		  asks_nothing,
		  "launch --no-wait --instead id-a /here",
		  { 0 },
		  NULL },
		{ { 'j', KEY_CODE_ENTER },
		  "ask settle --json -- resume id-a",
		  asks_reuse,
		  "",
		  { 'j', KEY_CODE_ENTER },
		  "launch launch --no-wait --instead id-a /here" },
		{ { 'j', KEY_CODE_ENTER },
		  "ask settle --json -- resume id-a",
		  asks_reuse,
		  "",
		  { KEY_CODE_ENTER },
		  "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		open_form(ui);
		check(ui, KEYS(enter), "ask settle --json launch /here");
		check_asked(ui, asks_launch, "");
		check(ui, cases[i].first, cases[i].then);
		if (cases[i].says)
			check_asked(ui, cases[i].says, cases[i].wish);
		if (cases[i].last)
			check(ui, cases[i].second, cases[i].last);
		assert_int_equal(ui->mode, MODE_FORM);
	}
}

/* ---- the answers ------------------------------------------------------------------------------ */

static void an_answer_is_passed_on(void **state UNUSED)
{
#define KEEPS  "run settle --answer keep --seen 5ee9 -- start id-a"
#define CLEANS "run settle --answer clean --seen 5ee9 -- attach id-a"
	static const struct {
		key_code begin;
		const char *says;
		key_code keys[5];
		const char *wish;
	} cases[] = {
		{ KEY_CODE_ENTER,
		  asks_end,
		  { KEY_CODE_ENTER, KEY_CODE_ENTER },
		  "attach --asked -- id-a" },
		{ 's', asks_end, { KEY_CODE_ENTER, KEY_CODE_ENTER }, "run start id-a" },
		{ 's', asks_end, { KEY_CODE_ENTER, 'j', KEY_CODE_ENTER }, KEEPS },
		{ KEY_CODE_ENTER, asks_end, { KEY_CODE_ENTER, 'j', 'j', KEY_CODE_ENTER }, CLEANS },
		{ 's', asks_end, { KEY_CODE_ESCAPE }, "" },
		{ 's', asks_end, { KEY_CODE_ENTER, 'j', 'j', KEY_CODE_ESCAPE }, "" },
		/* a y is no answer here */
		{ 's', asks_end, { 'y', 's', KEY_CODE_ESCAPE }, "" },
		{ 's', asks_reuse, { KEY_CODE_ENTER }, "" },
		{ 's', asks_reuse, { 'j', KEY_CODE_ENTER }, "run start id-a" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make_undecided();
		check(ui, KEYS(cases[i].begin),
		      cases[i].begin == 's' ? "ask settle --json -- start id-a"
					    : "ask settle --json -- attach id-a");
		check_asked(ui, cases[i].says, "");
		assert_int_equal(ui->mode, MODE_DIALOG);
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

/* What its user was about to do, and the answer. */
static void who_has_the_conversation_is_asked_about(void **state UNUSED)
{
#define ANSWERS(kind, choice, occasion) \
	kind " settle --answer " choice " --seen 5ee9 -- " occasion " id-a"
	static const struct {
		key_code begin[3];
		const char *asks;
		key_code keys[5];
		const char *wish;
	} cases[] = {
		{ { 's' }, "start", { KEY_CODE_ENTER }, "" },
		{ { 's' }, "start", { KEY_CODE_ESCAPE }, "" },
		/* neither a y nor the key of the action is an answer */
		{ { 's' }, "start", { 'y', 's', KEY_CODE_ENTER }, "" },
		{ { 's' },
		  "start",
		  { 'j', KEY_CODE_ENTER },
		  ANSWERS("terminal", "attach", "start") },
		{ { 's' }, "start", { 'j', 'j', KEY_CODE_ENTER }, ANSWERS("run", "fork", "start") },
		{ { 's' },
		  "start",
		  { 'j', 'j', 'j', KEY_CODE_ENTER },
		  ANSWERS("run", "take", "start") },
		/* who wants to attach is brought to what is started */
		{ { KEY_CODE_ENTER },
		  "attach",
		  { 'j', 'j', KEY_CODE_ENTER },
		  ANSWERS("terminal", "fork", "attach") },
		{ { KEY_CODE_ENTER },
		  "attach",
		  { 'j', 'j', 'j', KEY_CODE_ENTER },
		  ANSWERS("terminal", "take", "attach") },
		{ { 'r', 'y' },
		  "restart",
		  { 'j', 'j', 'j', KEY_CODE_ENTER },
		  ANSWERS("run", "take", "restart") },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make_undecided();
		cleanup_free char *asks = xasprintf("ask settle --json -- %s id-a", cases[i].asks);
		check(ui, cases[i].begin, asks);
		check_asked(ui, asks_conflict, "");
		assert_int_equal(ui->mode, MODE_DIALOG);
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
		if (!*cases[i].wish)
			assert_string_equal(ui->message, "Nothing was done.");
	}
}

static void a_restart_goes_on_if_nobody_has_the_conversation(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('r', 'y'), "ask settle --json -- restart id-a");
	check_asked(ui, asks_nothing, "restart id-a");
	assert_int_equal(ui->mode, MODE_LIST);
}

/* One after the other, and done at once at the end. */
static void each_of_several_is_asked_about(void **state UNUSED)
{
	static const struct {
		key_code keys[5];
		const char *then, *wish;
	} cases[] = {
		{ { KEY_CODE_ENTER, 'j', KEY_CODE_ENTER },
		  "ask settle --json -- remove id-b",
		  "remove --force --seen=id-a=5ee9 -- id-a id-b" },
		{ { KEY_CODE_ENTER, KEY_CODE_ENTER },
		  "ask settle --json -- remove id-b",
		  "remove --force -- id-b" },
		{ { KEY_CODE_ENTER, KEY_CODE_ESCAPE }, "", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		check(ui, KEYS(' ', down, ' ', 'd', 'y'), "ask settle --json -- remove id-a");
		check_asked(ui, asks_removal, "");
		check(ui, cases[i].keys, cases[i].then);
		if (cases[i].wish)
			check_asked(ui, ASKS_OF("id-b", "nothing", ""), cases[i].wish);
		else
			assert_string_equal(ui->message, "Nothing was done.");
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

static void work_at_risk_is_asked_about_before_a_removal(void **state UNUSED)
{
	static const struct {
		key_code keys[5];
		const char *wish;
	} cases[] = {
		{ { KEY_CODE_ENTER, 'j', KEY_CODE_ENTER },
		  "run remove --force --seen=id-a=5ee9 -- id-a" },
		{ { KEY_CODE_ENTER, KEY_CODE_ENTER }, "" },
		{ { KEY_CODE_ESCAPE }, "" },
		{ { 'd', 'y', KEY_CODE_ENTER, 'd', 'q' }, "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		check(ui, KEYS('d', 'y'), "ask settle --json -- remove id-a");
		check_asked(ui, asks_removal, "");
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('d', 'y'), "ask settle --json -- remove id-a");
	check_asked(ui, asks_nothing, "remove --force -- id-a");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void a_session_of_another_host_is_named_with_it(void **state UNUSED)
{
	cleanup_ui struct ui *ui = ui_new("default");
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "local", "gpu1", NULL });
	list_set_hosts(ui->list, &names);
	list_add(ui->list, &(struct facts){ .key = { .host = "gpu1", .id = "id-a" },
					    .title = "api",
					    .group = "work",
					    .doing = DOING_WAITING });
	assert_true(list_select(ui->list, list_find(ui->list, "gpu1:id-a")));
	check(ui, KEYS('x', 'y'), "run stop gpu1:id-a");
	check(ui, KEYS('d', 'y'), "ask settle --json -- remove gpu1:id-a");
	check_asked(ui, asks_removal, "");
	/* The host knows its session by the id alone, and the option is read there. */
	check(ui, KEYS(enter, 'j', enter), "run remove --force --seen=id-a=5ee9 -- gpu1:id-a");
	check(ui, KEYS('u'), "run -H gpu1 undo");
	check(ui, KEYS('A'), "ask approve --json -- gpu1:id-a");
	check(ui, KEYS(escape, enter), "attach gpu1:id-a");
	/* What the deck does not do there, it says in words; also of a group there, and of the
	 * host. */
	for (size_t i = 0; i < 3; i++, (void)list_move(ui->list, -1)) {
		check(ui, KEYS('c'), "");
		assert_string_equal(ui->message,
				    "The form for a session is not possible on another "
				    "host yet: use agentdeck -H gpu1 launch.");
		assert_true(ui->is_bad);
	}
}

static void what_is_for_the_line_is_not_for_what_is_chosen(void **state UNUSED)
{
	cleanup_ui struct ui *ui = ui_new("default");
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "local", "gpu1", NULL });
	list_set_hosts(ui->list, &names);
	struct item *near = list_add(
		ui->list, &(struct facts){ .key.id = "id-b", .title = "near", .group = "team" });
	list_add(ui->list, &(struct facts){ .key = { .host = "gpu1", .id = "id-a" },
					    .title = "api",
					    .group = "team" });
	struct item *far = list_find(ui->list, "gpu1:id-a");
	/* A group there, while one here is chosen. */
	list_choose(ui->list, near, true);
	assert_true(list_select(ui->list, far));
	list_move(ui->list, -1);
	check(ui, KEYS('t'), "");
	assert_int_equal(ui->mode, MODE_LIST);
	assert_string_equal(ui->message, "Changing a group is not possible on another host yet: "
					 "use agentdeck -H gpu1 group rename.");
	list_move(ui->list, 1);
	check(ui, KEYS('i'), "");
	assert_string_equal(ui->message, "Typing without attaching is not possible on another host "
					 "yet: use agentdeck -H gpu1 attach.");
	/* One here, while one there is chosen. */
	list_choose_none(ui->list);
	list_choose(ui->list, far, true);
	assert_true(list_select(ui->list, near));
	check(ui, KEYS('c'), "form");
	check(ui, KEYS(escape, 't', '2', enter), "line rename -- id-b near2");
}

static void what_comes_too_late_or_is_no_question_does_nothing(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make_undecided();
	check(ui, KEYS('s', escape), "ask settle --json -- start id-a");
	check_asked(ui, asks_nothing, "");
	assert_string_equal(ui->message, "Nothing was done.");
	static const char *const bad[] = {
		"",
		"[]",
		"{\"id\": \"id-a\", \"about\": \"end\"}",
		ASKS("end", ONE("")),
		ASKS("removal", ONE(CHOICE("clean"))),
		ASKS("end", ONE(CHOICE("never"))),
		ASKS("end", SEEN "," SEEN "," SEEN),
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		check(ui, KEYS('s'), "ask settle --json -- start id-a");
		check_asked(ui, bad[i], "");
		assert_int_equal(ui->mode, MODE_LIST);
		assert_true(ui->is_bad);
	}
	/* it failed, and its words are the news */
	check(ui, KEYS('s'), "ask settle --json -- start id-a");
	check_asked(ui, NULL, "");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void what_comes_too_late_is_not_for_another_action(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish wish = { 0 };
	check(ui, KEYS('r', 'y'), "ask settle --json -- restart id-a");
	const unsigned late = ui->ticket;
	check(ui, KEYS(escape, 'd', 'y'), "ask settle --json -- remove id-a");
	ui_asked(ui, late, "{\"occasion\": \"restart\", \"id\": \"id-a\"}", &wish);
	assert_int_equal(ui->mode, MODE_LOOKING);
	/* Nor does a failure of the earlier look end this one. */
	assert_false(ui_awaits(ui, late));
	ui_asked(ui, late, NULL, &wish);
	assert_int_equal(ui->mode, MODE_LOOKING);
	assert_int_equal(wish.kind, WISH_NOTHING);
	check_said(ui, "remove", asks_removal, "");
	assert_int_equal(ui->mode, MODE_DIALOG);
}

static void it_says_what_it_looks_at(void **state UNUSED)
{
	static const struct {
		key_code keys[6];
		const char *says;
	} cases[] = {
		{ { 's' }, "Looking at api ..." },
		{ { KEY_CODE_ENTER }, "Looking at api ..." },
		{ { 'r', 'y' }, "Looking at api ..." },
		{ { 'd', 'y' }, "Looking at its work ..." },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make_undecided();
		for (const key_code *key = cases[i].keys; *key; key++) {
			cleanup_wish struct wish wish = { 0 };
			ui_key(ui, *key, &wish);
		}
		assert_int_equal(ui->mode, MODE_LOOKING);
		assert_string_equal(ui->question, cases[i].says);
	}
}

#define PERMISSION(choices)                                                                \
	"{\"id\": \"id-a\", \"question\": \"Bash\\n rm -rf build\", \"digest\": \"d1g\", " \
	"\"choices\": [" choices "]}"

static void a_permission_is_given_in_the_deck(void **state UNUSED)
{
	static const struct {
		const char *asks;
		key_code key, answer;
		const char *wish;
	} cases[] = {
		{ PERMISSION(""), 'A', 'y', "run approve --question d1g -- id-a" },
		{ PERMISSION(""), 'D', 'y', "run deny --question d1g -- id-a" },
		{ PERMISSION(""), 'A', 'n', "" },
		{ PERMISSION(""), 'A', KEY_CODE_ENTER, "" },
		{ PERMISSION("\"1\""), 'D', 'y', "run deny --question d1g -- id-a" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		cleanup_wish struct wish wish = { 0 };
		cleanup_free char *asks = xasprintf("ask %s --json -- id-a",
						    cases[i].key == 'A' ? "approve" : "deny");
		check(ui, KEYS(cases[i].key), asks);
		ui_asked(ui, ui->ticket, cases[i].asks, &wish);
		assert_int_equal(ui->mode, MODE_DIALOG);
		assert_string_equal(ui->dialog.question.lines.items[1], " rm -rf build");
		/* The dialog comes later than its key: a key that repeats answers nothing. */
		check(ui, KEYS(cases[i].key, cases[i].key), "");
		assert_int_equal(ui->mode, MODE_DIALOG);
		check(ui, KEYS(cases[i].answer), cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

/* The agent's choices are behind the one that answers nothing, and a number only goes to one. */
static void a_permission_with_choices_is_given_in_the_deck(void **state UNUSED)
{
	static const struct {
		key_code keys[5];
		const char *wish;
	} cases[] = {
		{ { KEY_CODE_ENTER }, "" },
		{ { KEY_CODE_ESCAPE }, "" },
		{ { 'n' }, "" },
		{ { KEY_CODE_DOWN, KEY_CODE_ENTER },
		  "run approve --question d1g --choice=1 -- id-a" },
		{ { '2', '2', '2', KEY_CODE_ENTER },
		  "run approve --question d1g --choice=2 -- id-a" },
		/* neither yes, nor a number that is not there */
		{ { 'y', '9', 'A', KEY_CODE_ENTER }, "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_ui struct ui *ui = make();
		cleanup_wish struct wish wish = { 0 };
		check(ui, KEYS('A'), "ask approve --json -- id-a");
		ui_asked(ui, ui->ticket,
			 "{\"id\": \"id-a\", \"question\": \"Which?\", \"digest\": \"d1g\", "
			 "\"choices\": [\"1\", \"2\"], \"labels\": [\"1. Red\"]}",
			 &wish);
		assert_int_equal(wish.kind, WISH_NOTHING);
		assert_string_equal(ui->dialog.question.choices[1].label, "1. Red");
		assert_string_equal(ui->dialog.question.choices[2].label, "2");
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

static void a_permission_of_another_session_is_not_shown(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish wish = { 0 };
	check(ui, KEYS('A', KEY_CODE_ESCAPE), "ask approve --json -- id-a");
	const unsigned late = ui->ticket;
	ui_asked(ui, late, PERMISSION(""), &wish);
	assert_int_equal(ui->mode, MODE_LIST);
	check(ui, KEYS(down, down, 'A'), "ask approve --json -- id-b");
	ui_asked(ui, late, PERMISSION(""), &wish);
	assert_int_equal(ui->mode, MODE_LOOKING);
	ui_asked(ui, ui->ticket, "no JSON", &wish);
	assert_int_equal(ui->mode, MODE_LIST);
	assert_true(ui->is_bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_form_becomes_a_command),
		cmocka_unit_test(a_form_takes_a_role),
		cmocka_unit_test(a_form_survives_a_failure_and_an_escape),
		cmocka_unit_test(another_session_is_resumed_instead),
		cmocka_unit_test(an_answer_is_passed_on),
		cmocka_unit_test(who_has_the_conversation_is_asked_about),
		cmocka_unit_test(a_restart_goes_on_if_nobody_has_the_conversation),
		cmocka_unit_test(each_of_several_is_asked_about),
		cmocka_unit_test(work_at_risk_is_asked_about_before_a_removal),
		cmocka_unit_test(a_session_of_another_host_is_named_with_it),
		cmocka_unit_test(what_is_for_the_line_is_not_for_what_is_chosen),
		cmocka_unit_test(what_comes_too_late_or_is_no_question_does_nothing),
		cmocka_unit_test(what_comes_too_late_is_not_for_another_action),
		cmocka_unit_test(it_says_what_it_looks_at),
		cmocka_unit_test(a_permission_is_given_in_the_deck),
		cmocka_unit_test(a_permission_with_choices_is_given_in_the_deck),
		cmocka_unit_test(a_permission_of_another_session_is_not_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
