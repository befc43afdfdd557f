/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "engine/screen/deliver.h"
#include "model/agent/display.h"

/* --- cleaning -------------------------------------------------------------------------------- */

static void check_clean(const char *text, size_t length, const char *expected, size_t removed)
{
	cleanup_strbuf struct strbuf clean = { 0 };
	assert_int_equal(display_clean(text, length, &clean), removed);
	assert_string_equal(strbuf_text(&clean), expected);
}

#define CHECK_CLEAN(text, expected, removed) check_clean(text, sizeof(text) - 1, expected, removed)

static void clean_keeps_what_people_write(void **state UNUSED)
{
	CHECK_CLEAN("", "", 0);
	CHECK_CLEAN("a line\n\tand \xe2\x9d\xaf \xf0\x9f\x98\x80\n",
		    "a line\n\tand \xe2\x9d\xaf \xf0\x9f\x98\x80\n", 0);
	CHECK_CLEAN("\xc2\xa0\xc3\xa9", "\xc2\xa0\xc3\xa9", 0);
}

static void clean_makes_every_line_end_a_newline(void **state UNUSED)
{
	CHECK_CLEAN("a\r\nb\rc\r", "a\nb\nc\n", 0);
}

static void clean_drops_whole_escape_sequences(void **state UNUSED)
{
	CHECK_CLEAN("\033[31mred\033[0m", "red", 9);
	CHECK_CLEAN("a\033]0;title\ab", "ab", 10);
	CHECK_CLEAN("a\033]8;;http://x\033\\b", "ab", 15);
	CHECK_CLEAN("a\033(Bb", "ab", 3);
	CHECK_CLEAN("a\033cb", "ab", 2);
}

static void clean_drops_what_would_end_a_bracketed_paste(void **state UNUSED)
{
	CHECK_CLEAN("a\033[201~\rb", "a\nb", 6);
	CHECK_CLEAN("a\xc2\x9b"
		    "201~b",
		    "a201~b", 2);
	CHECK_CLEAN("a\x9b"
		    "201~b",
		    "a201~b", 1);
}

static void clean_drops_what_shows_text_in_another_order(void **state UNUSED)
{
	CHECK_CLEAN("a\u202eb\u2066c\u202f", "abc\u202f", 6);
}

static void clean_survives_sequences_that_are_cut_off(void **state UNUSED)
{
	CHECK_CLEAN("a\033", "a", 1);
	CHECK_CLEAN("a\033[", "a", 2);
	CHECK_CLEAN("a\033[3", "a", 3);
	CHECK_CLEAN("a\033]x", "a", 3);
	CHECK_CLEAN("a\033(", "a", 2);
	CHECK_CLEAN("a\033]never ended\nb", "a\nb", 13);
	CHECK_CLEAN("a\033\0b", "ab", 2);
}

static void clean_drops_control_characters_and_broken_utf8(void **state UNUSED)
{
	CHECK_CLEAN("a\0b\x01\x7f\x08\x1f", "ab", 5);
	CHECK_CLEAN("\xff\xe2\x9d", "", 3);
}

/* --- reading a screen ------------------------------------------------------------------------ */

static struct agent boxed_agent(void)
{
	struct agent agent = { 0 };
	strvec_push(&agent.ready, "^>");
	strvec_push(&agent.waiting, "^ +[0-9]\\. ");
	strvec_push(&agent.waiting, "Do you want to");
	return agent;
}

static void agent_end(struct agent *agent)
{
	strvec_clear(&agent->ready);
	strvec_clear(&agent->waiting);
}

static void a_screen_is_judged_by_what_stands_lowest(void **state UNUSED)
{
	struct agent agent = boxed_agent();
	assert_int_equal(display_judge(&agent, "hello\n> \n? for help\n\n", NULL), DISPLAY_READY);
	assert_int_equal(display_judge(&agent, "> old\nDo you want to eat?\n 1. Yes\n", NULL),
			 DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, "Do you want to, I asked\n---\n> \n", NULL),
			 DISPLAY_READY);
	assert_int_equal(display_judge(&agent, "thinking\n", NULL), DISPLAY_OTHER);
	assert_int_equal(display_judge(&agent, "", NULL), DISPLAY_OTHER);
	agent_end(&agent);
}

static void an_agent_without_patterns_is_never_judged(void **state UNUSED)
{
	const struct agent agent = { 0 };
	assert_int_equal(display_judge(&agent, "> \nDo you want to\n", NULL), DISPLAY_OTHER);
	assert_null(display_box(&agent, "> \n"));
}

static void our_own_text_in_the_box_is_no_dialog(void **state UNUSED)
{
	struct agent agent = boxed_agent();
	const char *screen = "> list\n  Do you want to eat?  \n";
	assert_int_equal(display_judge(&agent, screen, "list\nDo you want to eat?"), DISPLAY_READY);
	assert_int_equal(display_judge(&agent, screen, "list\nanything else"), DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, screen, NULL), DISPLAY_DIALOG);
	agent_end(&agent);
}

static void a_choice_that_looks_like_a_box_is_a_dialog(void **state UNUSED)
{
	struct agent agent = { 0 };
	strvec_push(&agent.ready, "^> ");
	strvec_push(&agent.waiting, "^> [0-9]+\\. ");
	assert_int_equal(display_judge(&agent, "Run it?\n> 1. Yes\n  2. No\n", NULL),
			 DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, "> 1. eat\n  2. sleep\n", "1. eat\n2. sleep"),
			 DISPLAY_READY);
	assert_int_equal(display_judge(&agent, "> 1. Yes\n  2. No\n", "1. eat\n2. sleep"),
			 DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, "> 1. Yes\n  2. No\n", "say: 1. Yes\n2. No"),
			 DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, "> 1. Yes\n---\n> eat\n", NULL), DISPLAY_READY);
	agent_end(&agent);
}

static void the_box_is_the_lowest_line_that_looks_like_one(void **state UNUSED)
{
	struct agent agent = boxed_agent();
	cleanup_free char *box = display_box(&agent, "> earlier\nreply\n> draft\n----\n");
	assert_string_equal(box, "> draft");
	assert_null(display_box(&agent, "no box\n"));
	agent_end(&agent);
}

/* --- what can be known without a running agent ----------------------------------------------- */

static struct deck deck_of(struct fixture *fixture)
{
	return (struct deck){
		.store = fixture->store,
		.profile = xstrdup("default"),
		.paths = { .config = xstrdup(fixture->root), .state = xstrdup(fixture->root) },
	};
}

/* The fixture keeps its store. */
static void deck_end(struct deck *deck)
{
	deck->store = NULL;
	deck_close(deck);
}

static void check_refusal(struct fixture *fixture, const char *base, enum error_code code)
{
	struct deck deck = deck_of(fixture);
	cleanup_error struct error err = { 0 };
	struct delivery_result result = { .delivery = DELIVERY_COUNT };
	const struct delivery_request request = {
		.base = base,
		.text = "hello",
		.length = 5,
		.timeout_ms = 1000,
		.wait = true,
	};
	assert_int_equal(deliver(&deck, &request, &result, &err), -1);
	assert_int_equal(err.code, code);
	assert_int_equal(result.delivery, DELIVERY_COUNT);
	deck_end(&deck);
}

static void a_session_that_was_removed_is_not_found(void **state)
{
	check_refusal(*state, "nosuch00", ERROR_NOT_FOUND);
}

static void a_session_that_does_not_run_is_refused_with_the_remedy(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "abcd1234", "api");
	check_refusal(fixture, "abcd1234", ERROR_INVALID);
}

static void a_run_of_an_earlier_boot_does_not_run(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "abcd1234", "api");
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, "abcd1234");
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	const struct attempt attempt = { .rung = RUNG_LAUNCH };
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run");
	instance->run.socket = path_join(fixture->root, "tmux.sock");
	instance->run.directory = xstrdup(fixture->root);
	instance->run.boot_id = xstrdup("another boot");
	instance->run.server = (struct process_id){ .pid = getpid(), .start = 1 };
	run_add_attempt(&instance->run, &attempt);
	assert_int_equal(store_save(lock, instance, NULL), 0);
	check_refusal(fixture, "abcd1234", ERROR_INVALID);
}

static void every_delivery_has_its_word(void **state UNUSED)
{
	assert_string_equal(delivery_name(DELIVERY_SUBMITTED), "submitted");
	assert_string_equal(delivery_name(DELIVERY_TYPED), "typed");
	assert_string_equal(delivery_name(DELIVERY_UNVERIFIED), "unverified");
	assert_string_equal(delivery_name(DELIVERY_NOT_READY), "not_ready");
	assert_string_equal(delivery_name(DELIVERY_DRAFT), "draft");
	assert_string_equal(delivery_name(DELIVERY_FAILED), "failed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_keeps_what_people_write),
		cmocka_unit_test(clean_makes_every_line_end_a_newline),
		cmocka_unit_test(clean_drops_whole_escape_sequences),
		cmocka_unit_test(clean_drops_what_would_end_a_bracketed_paste),
		cmocka_unit_test(clean_drops_what_shows_text_in_another_order),
		cmocka_unit_test(clean_survives_sequences_that_are_cut_off),
		cmocka_unit_test(clean_drops_control_characters_and_broken_utf8),
		cmocka_unit_test(a_screen_is_judged_by_what_stands_lowest),
		cmocka_unit_test(an_agent_without_patterns_is_never_judged),
		cmocka_unit_test(our_own_text_in_the_box_is_no_dialog),
		cmocka_unit_test(a_choice_that_looks_like_a_box_is_a_dialog),
		cmocka_unit_test(the_box_is_the_lowest_line_that_looks_like_one),
		STORE_TEST(a_session_that_was_removed_is_not_found),
		STORE_TEST(a_session_that_does_not_run_is_refused_with_the_remedy),
		STORE_TEST(a_run_of_an_earlier_boot_does_not_run),
		cmocka_unit_test(every_delivery_has_its_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
