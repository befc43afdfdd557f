/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers to a question on a real terminal.  A shell script draws it as the demo agent does, and
 * reads one key.
 */
#include "unit/terminal-fixture.h"

#include "engine/place/activityfile.h"
#include "engine/screen/permit.h"
#include "engine/terminal/terminal.h"

#define RULE "────────────────────"
#define DRAWN(command)                                                                              \
	RULE "\\r\\n Demo command\\r\\n\\r\\n   " command                                           \
	     "\\r\\n\\r\\n Do you want to proceed?\\r\\n ❯ 1. Yes\\r\\n   2. No\\r\\n\\r\\n Esc " \
	     "to cancel\\r\\n'; "
#define ASK(command) "stty raw -echo; printf '" DRAWN(command)
/* In place of the question before, and at once. */
#define ASK_NEXT(command) "printf '\\033[2J\\033[H" DRAWN(command)
/* The same in the words of an agent that reports nothing. */
#define ASK_FRAMED                                                                                            \
	"stty raw -echo; printf '╭────╮\\r\\n│ ? Shell  make  │\\r\\n│ Allow execution of " \
	"[Shell]?  │\\r\\n│   │\\r\\n│ ● 1. Allow once  │\\r\\n│   2. No, suggest changes "     \
	"(esc)  │\\r\\n╰────╯\\r\\n'; "
/* Show the byte that came as a number. */
#define TAKE                                                                              \
	"x=$(dd bs=1 count=1 2>&- | od -An -td1 | tr -d ' '); printf '\\033[2J\\033[H'; " \
	"printf \"got $x.\"; exec sleep 100"

static void report(const struct instance *instance, enum instance_activity activity)
{
	const struct activity now = { .activity = activity, .since = 1 };
	const struct announced announced = { 0 };
	assert_int_equal(activityfile_write(instance->run.directory, &now, &announced, NULL), 0);
}

/* A session whose agent asks. */
static struct instance *start(const struct fake_desk *desk, const char *agent, const char *script)
{
	struct instance *instance = fake_running(desk);
	replace_string(&instance->agent, agent);
	terminal_start(instance, script);
	fake_put(desk, instance);
	report(instance, ACTIVITY_WAITING);
	return instance;
}

static void look(struct fake_desk *desk, struct permission *ret)
{
	cleanup_error struct error err = { 0 };
	if (permit_look(&desk->deck, FAKE_ID, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static int answer(struct fake_desk *desk, enum permit_answer answer, const char *digest,
		  struct error *err)
{
	return permit_answer(
		&desk->deck,
		&(struct permit_request){ .base = FAKE_ID, .answer = answer, .digest = digest },
		err);
}

static void assert_refused(struct fake_desk *desk, const char *why)
{
	cleanup_error struct error err = { 0 };
	struct permission question = { 0 };
	assert_int_equal(permit_look(&desk->deck, FAKE_ID, &question, &err), -1);
	if (err.code != ERROR_INVALID || !strstr(err.message, why))
		fail_msg("%s", err.message);
	assert_null(question.text);
}

static void assert_untouched(const struct instance *instance)
{
	cleanup_free char *screen = terminal_capture(instance);
	assert_null(strstr(screen, "got"));
}

static void check_answer(struct fake_desk *desk, enum permit_answer which, const char *got)
{
	cleanup_permission struct permission question = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = start(desk, "demo", ASK("make") TAKE);
	terminal_await(instance, "Esc to cancel");
	look(desk, &question);
	assert_non_null(strstr(question.text, "   make\n"));
	if (answer(desk, which, question.digest, &err) < 0)
		fail_msg("%s", err.message);
	terminal_await(instance, got);
	/* It reports nothing here.  A refusal leaves nothing to wait for, and after an approval it
	 * works until it says otherwise. */
	struct activity now = { 0 };
	activity_read(instance->run.directory, &now);
	assert_int_equal(now.activity, which == PERMIT_DENY ? ACTIVITY_IDLE : ACTIVITY_BUSY);
	assert_int_equal(now.is_seen, which == PERMIT_APPROVE);
	activity_free(&now);
	terminal_stop(instance);
}

/* The next one of several questions. */
static void check_next_question(struct fake_desk *desk, enum permit_answer which)
{
	cleanup_permission struct permission question = { 0 };
	cleanup_instance struct instance *instance = start(
		desk, "demo",
		ASK("make") "x=$(dd bs=1 count=1 2>&-); " ASK_NEXT("rm") "exec sleep 100");
	terminal_await(instance, "Esc to cancel");
	look(desk, &question);
	assert_int_equal(answer(desk, which, question.digest, NULL), 0);
	struct activity now = { 0 };
	activity_read(instance->run.directory, &now);
	assert_int_equal(now.activity, ACTIVITY_WAITING);
	activity_free(&now);
	terminal_stop(instance);
}

static void a_refusal_leaves_the_next_question_waiting(void **state)
{
	check_next_question(*state, PERMIT_DENY);
}

static void an_approval_leaves_the_next_question_waiting(void **state)
{
	check_next_question(*state, PERMIT_APPROVE);
}

/* A question that agentdeck cannot answer is one, too. */
static void an_unknown_question_is_waited_for(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_permission struct permission question = { 0 };
	cleanup_instance struct instance *instance = start(
		desk, "demo",
		ASK("make") "x=$(dd bs=1 count=1 2>&-); printf '\\033[2J\\033[H ❯ 1. Which one?\\r\\n'; "
			    "exec sleep 100");
	terminal_await(instance, "Esc to cancel");
	look(desk, &question);
	assert_int_equal(answer(desk, PERMIT_APPROVE, question.digest, NULL), 0);
	struct activity now = { 0 };
	activity_read(instance->run.directory, &now);
	assert_int_equal(now.activity, ACTIVITY_WAITING);
	activity_free(&now);
	terminal_stop(instance);
}

static void an_approval_presses_the_key_that_approves(void **state)
{
	check_answer(*state, PERMIT_APPROVE, "got 49.");
}

static void a_refusal_presses_the_key_that_denies(void **state)
{
	check_answer(*state, PERMIT_DENY, "got 27.");
}

static void an_agent_without_reports_is_answered_by_its_screen(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_permission struct permission question = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = start(desk, "gemini", ASK_FRAMED TAKE);
	report(instance, ACTIVITY_UNKNOWN);
	terminal_await(instance, "suggest changes");
	look(desk, &question);
	assert_non_null(strstr(question.text, " ? Shell  make\n"));
	if (answer(desk, PERMIT_APPROVE, question.digest, &err) < 0)
		fail_msg("%s", err.message);
	terminal_await(instance, "got 49.");
	assert_refused(desk, "no question for a permission that agentdeck knows");
	terminal_stop(instance);
}

/* A question of claude's, with a choice that takes a text, and one below it. */
#define ASK_CHOICE                                                                                \
	"stty raw -echo; printf '" RULE "\\r\\n ☐ Library\\r\\n\\r\\nWhich?\\r\\n\\r\\n❯ 1. " \
	"Alpha\\r\\n  2. Beta\\r\\n  3. Type something.\\r\\n" RULE "\\r\\n  4. Chat about "      \
	"this\\r\\n\\r\\nEnter to select · ↑/↓ to navigate · Esc to cancel'; "

static void a_choice_is_made_by_its_number(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_permission struct permission question = { 0 };
	cleanup_instance struct instance *instance = start(desk, "claude", ASK_CHOICE TAKE);
	struct permit_request request = { .base = FAKE_ID, .answer = PERMIT_APPROVE };
	terminal_await(instance, "Esc to cancel");
	look(desk, &question);
	request.digest = question.digest;
	/* None is the answer by itself, the third takes a text, and there is no seventh. */
	static const char *const refused[] = { NULL, "3", "4", "7", "Enter", "" };
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup_error struct error err = { 0 };
		request.choice = refused[i];
		assert_int_equal(permit_answer(&desk->deck, &request, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_non_null(strstr(err.message, "name it with --choice"));
	}
	assert_untouched(instance);
	request.choice = "2";
	assert_int_equal(permit_answer(&desk->deck, &request, NULL), 0);
	terminal_await(instance, "got 50.");
	terminal_stop(instance);
}

static void a_permission_has_no_choices(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_permission struct permission question = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = start(desk, "demo", ASK("make") TAKE);
	terminal_await(instance, "Esc to cancel");
	look(desk, &question);
	const struct permit_request request = {
		.base = FAKE_ID, .answer = PERMIT_APPROVE, .digest = question.digest, .choice = "2"
	};
	assert_int_equal(permit_answer(&desk->deck, &request, &err), -1);
	assert_non_null(strstr(err.message, "omit --choice"));
	assert_untouched(instance);
	terminal_stop(instance);
}

static void another_question_gets_no_answer(void **state)
{
	cleanup_error struct error err = { 0 };
	char digest[SHA256_TEXT_SIZE];
	cleanup_instance struct instance *instance = start(*state, "demo", ASK("make") TAKE);
	terminal_await(instance, "Esc to cancel");
	assert_int_equal(answer(*state, PERMIT_APPROVE, sha256_text("another", digest), &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "another question"));
	assert_untouched(instance);
	terminal_stop(instance);
}

static void a_question_that_stays_is_reported(void **state)
{
	cleanup_permission struct permission question = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = start(*state, "demo",
							   ASK("make") "exec sleep 100");
	terminal_await(instance, "Esc to cancel");
	look(*state, &question);
	assert_int_equal(answer(*state, PERMIT_APPROVE, question.digest, &err), -1);
	assert_int_equal(err.code, ERROR_DELIVERY);
	assert_non_null(strstr(err.message, "still there"));
	terminal_stop(instance);
}

static void what_does_not_ask_is_refused_in_words(void **state)
{
	cleanup_instance struct instance *instance = start(*state, "demo", ASK("make") TAKE);
	terminal_await(instance, "Esc to cancel");
	/* What it shows may be its words: only its report counts. */
	report(instance, ACTIVITY_BUSY);
	assert_refused(*state, "does not ask for a permission");
	terminal_stop(instance);
}

static void an_agent_without_questions_is_refused_in_words(void **state)
{
	cleanup_instance struct instance *instance = start(*state, "pi", ASK("make") TAKE);
	terminal_await(instance, "Esc to cancel");
	assert_refused(*state, "agentdeck does not know how pi asks");
	assert_untouched(instance);
	terminal_stop(instance);
}

/* The agent reports before it draws; here a look came first and saw it work. */
static void a_question_that_is_drawn_late_is_waited_for(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_permission struct permission question = { 0 };
	cleanup_instance struct instance *instance = start(desk, "demo",
							   "sleep 1; " ASK("make") TAKE);
	const struct activity now = { .activity = ACTIVITY_WAITING,
				      .reported = ACTIVITY_WAITING,
				      .is_seen = true,
				      .since = 1 };
	assert_int_equal(activityfile_write(instance->run.directory, &now, &(struct announced){ 0 },
					    NULL),
			 0);
	look(desk, &question);
	assert_non_null(strstr(question.text, "   make\n"));
	terminal_stop(instance);
}

/* A screen that is drawn again at the moment is not another question. */
static void a_question_that_is_drawn_again_is_answered(void **state)
{
	struct fake_desk *desk = *state;
	const struct agent *agent = NULL;
	cleanup_permission struct permission seen = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(deck_agent(&desk->deck, "demo", &agent, NULL), 0);
	assert_int_equal(permission_read(agent,
					 RULE
					 "\n Demo command\n\n   make\n\n Do you want to proceed?\n"
					 "   1. Yes\n   2. No\n\n Esc to cancel\n",
					 &seen),
			 PERMISSION_WHOLE);
	cleanup_instance struct instance *instance = start(desk, "demo",
							   "sleep 0.5; " ASK("make") TAKE);
	if (answer(desk, PERMIT_APPROVE, seen.digest, &err) < 0)
		fail_msg("%s", err.message);
	terminal_await(instance, "got 49.");
	terminal_stop(instance);
}

static void what_cannot_be_read_is_refused_in_words(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "demo", ASK("make") "printf '\\033[H\\033[M'; exec sleep 100");
	terminal_await(instance, "Esc to cancel");
	assert_refused(*state, "not all of it can be seen");
	terminal_stop(instance);
}

static void a_screen_without_a_question_is_refused_in_words(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "demo", ASK("make") "printf '\\r\\nmore'; exec sleep 100");
	terminal_await(instance, "more");
	assert_refused(*state, "no question for a permission that agentdeck knows");
	terminal_stop(instance);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(an_approval_presses_the_key_that_approves),
		FAKE_TEST(a_refusal_presses_the_key_that_denies),
		FAKE_TEST(a_refusal_leaves_the_next_question_waiting),
		FAKE_TEST(an_approval_leaves_the_next_question_waiting),
		FAKE_TEST(an_unknown_question_is_waited_for),
		FAKE_TEST(an_agent_without_reports_is_answered_by_its_screen),
		FAKE_TEST(a_choice_is_made_by_its_number),
		FAKE_TEST(a_permission_has_no_choices),
		FAKE_TEST(another_question_gets_no_answer),
		FAKE_TEST(a_question_that_stays_is_reported),
		FAKE_TEST(what_does_not_ask_is_refused_in_words),
		FAKE_TEST(an_agent_without_questions_is_refused_in_words),
		FAKE_TEST(a_question_that_is_drawn_late_is_waited_for),
		FAKE_TEST(a_question_that_is_drawn_again_is_answered),
		FAKE_TEST(what_cannot_be_read_is_refused_in_words),
		FAKE_TEST(a_screen_without_a_question_is_refused_in_words),
	};
	const int skip = terminal_skip();
	return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
