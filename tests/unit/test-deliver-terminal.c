/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries into a real terminal.  A shell script draws what the demo agent draws, and nothing
 * reports: the screen is the proof.
 */
#include "unit/terminal-fixture.h"

#include "engine/screen/deliver.h"
#include "engine/terminal/terminal.h"

#define BOX "❯ "

/* A session whose agent shows words. */
static struct instance *start(const struct fake_desk *desk, const char *script, const char *words)
{
	struct instance *instance = fake_running(desk);
	replace_string(&instance->agent, "demo");
	terminal_start(instance, script);
	fake_put(desk, instance);
	terminal_await(instance, words);
	return instance;
}

static void check(struct fake_desk *desk, const struct delivery_request *wish,
		  enum delivery delivery, const char *reason)
{
	cleanup_delivery_result struct delivery_result result = { 0 };
	cleanup_error struct error err = { 0 };
	const int64_t deadline = clock_ms() + TERMINAL_PLENTY_MS;
	struct delivery_request request = *wish;
	request.base = FAKE_ID;
	request.text = "hello";
	request.length = strlen("hello");
	request.timeout_ms = TERMINAL_PLENTY_MS;
	/* On a busy machine the server may answer too late for one that does not wait. */
	do {
		delivery_result_free(&result);
		if (deliver(&desk->deck, &request, &result, &err) < 0)
			fail_msg("%s", err.message);
	} while (result.delivery != delivery && clock_ms() < deadline &&
		 strstr(or_empty(result.reason), "does not answer"));
	if (result.delivery != delivery || (reason && !strstr(or_empty(result.reason), reason)))
		fail_msg("%s: %s", delivery_name(result.delivery), or_empty(result.reason));
}

static void assert_untouched(const struct instance *instance)
{
	cleanup_free char *screen = terminal_capture(instance);
	assert_null(strstr(screen, "hello"));
}

static void a_text_that_leaves_the_box_is_submitted(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "printf '" BOX "'; read x; printf \"got $x\\n" BOX "\"; read y", BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_SUBMITTED, NULL);
	terminal_await(instance, "got hello");
	terminal_stop(instance);
}

static void a_text_that_stays_in_the_box_is_typed(void **state)
{
	/* The terminal shows the text, and Enter does nothing. */
	cleanup_instance struct instance *instance = start(
		*state, "stty -icrnl -echoctl; printf '" BOX "'; read x", BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_TYPED, "had no effect");
	terminal_await(instance, BOX "hello");
	terminal_stop(instance);
}

static void a_draft_is_left_alone(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "printf '" BOX "my draft'; read x", BOX "my draft");
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_DRAFT, "unsent text");
	check(*state, &(struct delivery_request){ .wait = false }, DELIVERY_DRAFT, "unsent text");
	assert_untouched(instance);
	terminal_stop(instance);
}

static void a_draft_is_replaced_on_request(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "printf '" BOX "'; read x; printf \"got $x.\\n" BOX "\"; read y", BOX);
	assert_int_equal(terminal_paste(instance->run.socket, "my draft", 8, NULL), 0);
	terminal_await(instance, BOX "my draft");
	check(*state, &(struct delivery_request){ .wait = true, .replace_draft = true },
	      DELIVERY_SUBMITTED, NULL);
	terminal_await(instance, "got hello.");
	terminal_stop(instance);
}

static void a_view_that_takes_the_keys_gets_none(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "echo 'Settings (Esc closes)'; read x", "Settings");
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_NOT_READY, "a view");
	assert_untouched(instance);
	terminal_stop(instance);
}

static void a_server_that_is_gone_takes_nothing(void **state)
{
	cleanup_instance struct instance *instance = start(*state, "printf '" BOX "'; read x", BOX);
	terminal_stop(instance);
	check(*state, &(struct delivery_request){ .wait = false }, DELIVERY_NOT_READY,
	      "does not answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(a_text_that_leaves_the_box_is_submitted),
		FAKE_TEST(a_text_that_stays_in_the_box_is_typed),
		FAKE_TEST(a_draft_is_left_alone),
		FAKE_TEST(a_draft_is_replaced_on_request),
		FAKE_TEST(a_view_that_takes_the_keys_gets_none),
		FAKE_TEST(a_server_that_is_gone_takes_nothing),
	};
	const int skip = terminal_skip();
	return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
