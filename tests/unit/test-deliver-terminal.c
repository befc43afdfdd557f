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

/* As an agent that has no processor time: it shows a beginning for longer than most need for all. */
static void a_text_that_comes_late_is_submitted(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state,
		"stty -echo -icanon min 5 time 0; printf '" BOX
		"'; x=$(dd bs=5 count=1 2>/dev/null); "
		"printf '%s' \"${x%lo}\"; sleep 6; printf lo; stty icanon; read y; "
		"printf \"\\033[2J\\033[Hgot $x$y.\\n" BOX "\"; read y",
		BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_SUBMITTED, NULL);
	terminal_await(instance, "got hello.");
	terminal_stop(instance);
}

/* Agents take a backslash and Enter for a line break. */
static void a_beginning_of_the_text_in_the_box_is_no_proof(void **state)
{
	cleanup_instance struct instance *instance = start(
		*state, "printf '" BOX "'; read x; printf \"\\033[2J\\033[H" BOX "${x%?}\"; read y",
		BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_TYPED, "has changed");
	terminal_await(instance, BOX "hell");
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

/* A line editor that shows what was typed only when the message comes.  Enter prints what it got. */
#define EDITOR(draft)                                                              \
	"stty -echo -icanon min 1 time 0; box=; late='" draft "'; printf '" BOX    \
	"'; nl=$(printf '\\n.'); nl=${nl%.}; del=$(printf '\\177');"               \
	"while c=$(dd bs=1 count=1 2>/dev/null; echo .); c=${c%.}; do case $c in " \
	"$del) box=${box%?};; \"$nl\") printf '\\ngot %s.\\n' \"$box\"; box=;;"    \
	"*) box=$late$box$c; late=;; esac; printf '\\r\\033[K" BOX "%s' \"$box\"; done"

static void a_text_typed_at_the_same_time_stays_and_ours_goes(void **state)
{
	cleanup_instance struct instance *instance = start(*state, EDITOR("my draft"), BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_DRAFT,
	      "another text was typed");
	cleanup_free char *screen = terminal_capture(instance);
	assert_non_null(strstr(screen, BOX "my draft\n"));
	assert_null(strstr(screen, "got"));
	terminal_stop(instance);
}

static void a_text_that_came_behind_ours_is_left_with_it(void **state)
{
	/* What is typed meanwhile is behind the message: "h" is typed by a user, too. */
	cleanup_instance struct instance *instance = start(
		*state,
		"stty -echo -icanon min 1 time 0; printf '" BOX
		"'; x=$(dd bs=1 count=5 2>/dev/null); printf 'hellomy draft'; sleep 100",
		BOX);
	check(*state, &(struct delivery_request){ .wait = true }, DELIVERY_TYPED,
	      "does not show the message alone");
	cleanup_free char *screen = terminal_capture(instance);
	assert_non_null(strstr(screen, BOX "hellomy draft\n"));
	terminal_stop(instance);
}

static void a_text_for_another_mode_is_refused_before_it_is_typed(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = start(desk, EDITOR(""), BOX);
	cleanup_delivery_result struct delivery_result result = { 0 };
	cleanup_error struct error err = { 0 };
	struct delivery_request request = { .base = FAKE_ID,
					    .text = "!echo x",
					    .length = strlen("!echo x"),
					    .timeout_ms = TERMINAL_PLENTY_MS,
					    .wait = true };
	assert_int_equal(deliver(&desk->deck, &request, &result, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "--raw"));
	cleanup_free char *screen = terminal_capture(instance);
	assert_null(strstr(screen, "echo x"));
	request.is_raw = true;
	if (deliver(&desk->deck, &request, &result, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(result.delivery, DELIVERY_SUBMITTED);
	terminal_await(instance, "got !echo x.");
	terminal_stop(instance);
}

static void a_change_of_the_screen_alone_proves_nothing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	replace_string(&instance->agent, "amp");
	terminal_start(instance, "stty -echo; printf 'up'; read x; echo Resuming...; read y");
	fake_put(desk, instance);
	terminal_await(instance, "up");
	check(desk, &(struct delivery_request){ .wait = true }, DELIVERY_UNVERIFIED, NULL);
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
		FAKE_TEST(a_text_that_comes_late_is_submitted),
		FAKE_TEST(a_beginning_of_the_text_in_the_box_is_no_proof),
		FAKE_TEST(a_draft_is_left_alone),
		FAKE_TEST(a_draft_is_replaced_on_request),
		FAKE_TEST(a_text_typed_at_the_same_time_stays_and_ours_goes),
		FAKE_TEST(a_text_that_came_behind_ours_is_left_with_it),
		FAKE_TEST(a_text_for_another_mode_is_refused_before_it_is_typed),
		FAKE_TEST(a_change_of_the_screen_alone_proves_nothing),
		FAKE_TEST(a_view_that_takes_the_keys_gets_none),
		FAKE_TEST(a_server_that_is_gone_takes_nothing),
	};
	const int skip = terminal_skip();
	return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
