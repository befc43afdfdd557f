/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys go in, and what the program is to do comes out.
 */
#include "unit/test.h"

#include "base/jsonio.h"
#include "ui/state/ui.h"

#include <string.h>

static const key_code up = KEY_CODE_UP, down = KEY_CODE_DOWN, enter = KEY_CODE_ENTER,
		      escape = KEY_CODE_ESCAPE;

static struct ui *make(void)
{
	struct ui *ui = ui_new("default");
	list_add(ui->list,
		 &(struct facts){
			 .key.id = "id-a", .title = "api", .created_us = 1, .doing = DOING_IDLE });
	list_add(ui->list, &(struct facts){ .key.id = "id-b",
					    .title = "web",
					    .group = "work",
					    .created_us = 2,
					    .doing = DOING_WAITING });
	return ui;
}

/* What the keys, up to 0, make the program do: "stop id-a <input". */
/* What check() was last asked: the occasion, the last word but one of agentdeck settle. */
static char asked_occasion[16];

static void check(struct ui *ui, const key_code *keys, const char *expected)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (; *keys; keys++) {
		static const char *const kinds[] = { "",        "quit",   "suspend",  "redraw",
						     "profile", "attach", "terminal", "copy",
						     "switch",  "ask",    "run",      "line",
						     "form",    "find",   "launch",   "show" };
		cleanup_wish struct wish wish = { 0 };
		ui_key(ui, *keys, &wish);
		if (wish.kind != WISH_NOTHING)
			strbuf_addf(&text, "%s%s", text.length ? ";" : "", kinds[wish.kind]);
		for (size_t i = 0; i < wish.words.count; i++)
			strbuf_addf(&text, " %s", wish.words.items[i]);
		for (size_t i = 0; i < wish.each.count; i++)
			strbuf_addf(&text, " %zu:%s", wish.at, wish.each.items[i]);
		if (wish.input)
			strbuf_addf(&text, " <%s", wish.input);
		if (wish.kind == WISH_ASK)
			(void)snprintf(asked_occasion, sizeof(asked_occasion), "%s",
				       wish.words.items[wish.words.count - 2]);
	}
	assert_string_equal(strbuf_text(&text), expected);
}
#define KEYS(...) ((const key_code[]){ __VA_ARGS__, 0 })

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
		{ { 'F' }, "run fork id-a" },
		{ { 'x', 'x' }, "run stop id-a" },
		{ { 'x', 'y' }, "run stop id-a" },
		{ { ' ', KEY_CODE_DOWN, ' ', 'r', 'y' }, "run restart id-a id-b" },
		{ { 'x', KEY_CODE_DOWN, KEY_CODE_ENTER }, "run stop id-a" },
		{ { 'R', 'R' }, "run recover" },
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
		/* commands for one session: once for each */
		{ { ' ', KEY_CODE_DOWN, ' ', 'F' }, "run fork --no-wait 2:id-a 2:id-b" },
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
			ui_line_ended(ui, "done", true);
		assert_int_equal(ui->mode, MODE_LIST);
	}
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
		ui_line_ended(ui, "it is wrong", false);
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
		ui_line_ended(ui, "done", true);
		assert_int_equal(ui->mode, MODE_LINE);
		assert_string_equal(input_text(&ui->input), "q");
	}
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
	check(ui, KEYS('x', 'x'), "run stop id-a");
	check(ui, KEYS('x', 'Y'), "run stop id-a");
	/* A user's own. */
	assert_int_equal(keymap_bind(&ui->keymap, "question.yes=1", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "question.next=F2", NULL), 0);
	assert_int_equal(keymap_bind(&ui->keymap, "question.no=x", NULL), 0);
	check(ui, KEYS('x', '1'), "run stop id-a");
	check(ui, KEYS('x', KEY_CODE_F1 + 1, enter), "run stop id-a");
	check(ui, KEYS('x', 'y', KEY_CODE_TAB, enter), "");
	/* What says no never says yes, even if it is the key of the action. */
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
	check(ui, KEYS('m', 'x', KEY_CODE_F1 + 2), "line send --message-file - --session=id-a <x");
	ui_line_ended(ui, "sent", true);
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
	check(ui, KEYS(KEY_CODE_PASTE, KEY_CODE_PASTE_END), "");
	assert_string_equal(ui->message, "Pasted text does nothing here: S sends a line.");
}

static void a_line_can_be_given_up(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('m', 'x', escape), "");
	check(ui, KEYS('t', 'x', 'C' & KEY_CODE_CTRL), "");
	assert_int_equal(ui->mode, MODE_LIST);
	/* An empty message is none. */
	check(ui, KEYS('m', enter), "");
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

/* ---- what agentdeck asks ---------------------------------------------------------------------- */

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
	ui_asked(ui, said, &wish);
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
	check(ui, KEYS(up, 'h', 'i', enter), "ask settle --json launch /here");
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
	check(ui, KEYS(down, down, 'r', enter), "ask settle --json launch /here");
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
	ui_launched(ui, "no such directory", false);
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
		check(ui, KEYS(' ', down, ' ', 'd', 'd'), "ask settle --json -- remove id-a");
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
		check(ui, KEYS('d', 'd'), "ask settle --json -- remove id-a");
		check_asked(ui, asks_removal, "");
		check(ui, cases[i].keys, cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS('d', 'd'), "ask settle --json -- remove id-a");
	check_asked(ui, asks_nothing, "remove --force -- id-a");
	assert_int_equal(ui->mode, MODE_LIST);
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
	check(ui, KEYS('r', 'y', escape, 'd', 'y'),
	      "ask settle --json -- restart id-a;ask settle --json -- remove id-a");
	check_said(ui, "restart", asks_nothing, "");
	assert_int_equal(ui->mode, MODE_LOOKING);
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
		{ { KEY_CODE_UP, KEY_CODE_ENTER }, "" },
		{ { KEY_CODE_UP, KEY_CODE_UP, KEY_CODE_ENTER }, "switch id-a" },
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
	check(ui, KEYS('o', KEY_CODE_TAB, KEY_CODE_TAB, down, enter, 'f', up), "");
	ui_save(ui, saved);
	cleanup_ui struct ui *next = make();
	ui_restore(next, saved);
	list_change(next->list, list_find(next->list, "id-b"),
		    &(struct facts){ .key.id = "id-b", .group = "work", .doing = DOING_IDLE });
	ui_begin(next, 50, 200);
	assert_int_equal(list_order(next->list), ORDER_URGENCY);
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
	check(ui, KEYS('n'), "");
	check(ui, KEYS('s', 's'), "run start id-a id-c id-d id-e id-f id-b");
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
		ui_asked(ui, cases[i].asks, &wish);
		assert_int_equal(ui->mode, MODE_DIALOG);
		assert_string_equal(ui->dialog.question.lines.items[1], " rm -rf build");
		/* The dialog comes later than its key: a key that repeats answers nothing. */
		check(ui, KEYS(cases[i].key, cases[i].key), "");
		assert_int_equal(ui->mode, MODE_DIALOG);
		check(ui, KEYS(cases[i].answer), cases[i].wish);
		assert_int_equal(ui->mode, MODE_LIST);
	}
}

static void a_permission_with_choices_is_asked_on_the_terminal(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish wish = { 0 };
	check(ui, KEYS('A'), "ask approve --json -- id-a");
	ui_asked(ui, PERMISSION("\"1\", \"2\""), &wish);
	assert_int_equal(wish.kind, WISH_TERMINAL);
	assert_string_equal(wish.words.items[0], "approve");
	assert_int_equal(ui->mode, MODE_LIST);
}

static void a_permission_of_another_session_is_not_shown(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	cleanup_wish struct wish wish = { 0 };
	check(ui, KEYS('A', KEY_CODE_ESCAPE), "ask approve --json -- id-a");
	ui_asked(ui, PERMISSION(""), &wish);
	assert_int_equal(ui->mode, MODE_LIST);
	check(ui, KEYS(down, down, 'A'), "ask approve --json -- id-b");
	ui_asked(ui, PERMISSION(""), &wish);
	assert_int_equal(ui->mode, MODE_LOOKING);
	ui_asked(ui, "no JSON", &wish);
	assert_int_equal(ui->mode, MODE_LIST);
	assert_true(ui->is_bad);
}

static void enter_on_a_group_collapses_it(void **state UNUSED)
{
	cleanup_ui struct ui *ui = make();
	check(ui, KEYS(down, enter), "");
	assert_int_equal(list_lines(ui->list), 2);
	check(ui, KEYS('s'), "");
	assert_string_equal(ui->message, "This is a group: move to a session, or choose all of the "
					 "group with Space.");
	for (const char *key = "tAD"; *key; key++) {
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
	ui_line_ended(ui, "sent", true);
	/* An end without a beginning, and a beginning without an end. */
	check(ui, KEYS(end, begin, 'q', 'C' & KEY_CODE_CTRL, 'q'), "quit");
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
	assert_true(ui->help_top > 1);
	check(ui, KEYS(KEY_CODE_HOME), "");
	assert_int_equal(ui->mode, MODE_HELP);
	assert_int_equal(ui->help_top, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(actions_become_commands),
		cmocka_unit_test(what_is_not_confirmed_is_not_done),
		cmocka_unit_test(a_dialog_knows_the_keys_of_the_configuration),
		cmocka_unit_test(a_question_has_keys_of_the_usual_kind),
		cmocka_unit_test(a_refused_line_stays_open),
		cmocka_unit_test(a_typed_line_has_the_keys_of_its_user),
		cmocka_unit_test(what_is_told_names_the_keys_in_use),
		cmocka_unit_test(a_line_can_be_given_up),
		cmocka_unit_test(the_question_names_whom_it_is_about),
		cmocka_unit_test(an_answer_is_for_whom_the_question_named),
		cmocka_unit_test(the_mouse_selects_and_attaches),
		cmocka_unit_test(the_mouse_answers_nothing),
		cmocka_unit_test(a_form_becomes_a_command),
		cmocka_unit_test(a_form_takes_a_role),
		cmocka_unit_test(a_form_survives_a_failure_and_an_escape),
		cmocka_unit_test(another_session_is_resumed_instead),
		cmocka_unit_test(an_answer_is_passed_on),
		cmocka_unit_test(who_has_the_conversation_is_asked_about),
		cmocka_unit_test(a_restart_goes_on_if_nobody_has_the_conversation),
		cmocka_unit_test(each_of_several_is_asked_about),
		cmocka_unit_test(work_at_risk_is_asked_about_before_a_removal),
		cmocka_unit_test(what_comes_too_late_or_is_no_question_does_nothing),
		cmocka_unit_test(what_comes_too_late_is_not_for_another_action),
		cmocka_unit_test(it_says_what_it_looks_at),
		cmocka_unit_test(a_search_narrows_as_it_is_typed),
		cmocka_unit_test(a_picker_only_chooses),
		cmocka_unit_test(a_picker_leaves_the_cursor_to_its_user),
		cmocka_unit_test(it_begins_on_a_session),
		cmocka_unit_test(the_preview_is_there_where_it_fits),
		cmocka_unit_test(the_next_deck_begins_where_the_last_one_ended),
		cmocka_unit_test(many_starts_ask_first),
		cmocka_unit_test(a_permission_is_given_in_the_deck),
		cmocka_unit_test(a_permission_with_choices_is_asked_on_the_terminal),
		cmocka_unit_test(a_permission_of_another_session_is_not_shown),
		cmocka_unit_test(enter_on_a_group_collapses_it),
		cmocka_unit_test(a_key_without_a_meaning_says_so),
		cmocka_unit_test(pasted_text_is_no_action),
		cmocka_unit_test(help_goes_away_with_any_key),
		cmocka_unit_test(the_keys_of_the_list_scroll_the_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
