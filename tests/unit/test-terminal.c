/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The contract of a terminal, with the installed tmux.  How tmux takes texts is in test-tmux.c.
 */
#define TERMINAL_IS_MARKED
#include "unit/terminal-fixture.h"

#include "engine/terminal/terminal.h"

static void press_enter(const struct instance *instance)
{
	cleanup_strvec struct strvec keys = { 0 };
	strvec_push(&keys, "Enter");
	assert_int_equal(terminal_press(instance->run.socket, &keys, NULL), 0);
}

static void what_is_pasted_and_pressed_reaches_the_pane(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	cleanup_free char *screen = NULL, *text = NULL;
	terminal_start(instance,
		       "printf '\\033[1mready\\033[0m\\n'; read x; echo \"got $x\"; read y");
	terminal_await(instance, "ready");
	assert_int_equal(terminal_paste(instance->run.socket, "hello", 5, NULL), 0);
	press_enter(instance);
	terminal_await(instance, "got hello");
	assert_int_equal(terminal_screen(instance->run.socket, &text, NULL), 0);
	assert_null(strchr(text, 033));
	assert_int_equal(terminal_styled_screen(instance->run.socket, &screen, NULL), 0);
	assert_non_null(strchr(screen, 033));
	terminal_stop(instance);
}

static void a_look_tells_who_is_there(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	cleanup_terminal_state struct terminal_state seen = { 0 };
	terminal_start(instance, "echo up; exec sleep 100");
	terminal_await(instance, "up");
	assert_int_equal(terminal_look(instance->run.socket, &seen, NULL), 0);
	assert_int_equal(seen.server.pid, instance->run.server.pid);
	assert_int_equal(seen.server.start, instance->run.server.start);
	assert_int_equal(seen.pane, instance->run.pane.pid);
	assert_int_equal(seen.clients, 0);
	assert_false(seen.is_dead);
	terminal_stop(instance);
}

static void how_the_pane_ended_is_told_with_its_last_words(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	struct exit_record end = { 0 };
	terminal_start(instance, "echo bye; read x; exit 7");
	terminal_await(instance, "bye");
	assert_int_equal(terminal_how_ended(instance->run.socket, &end, NULL), -1);
	press_enter(instance);
	/* On a busy machine tmux needs its time. */
	for (const int64_t deadline = clock_ms() + TERMINAL_PLENTY_MS;
	     terminal_how_ended(instance->run.socket, &end, NULL) != 0;) {
		assert_true(clock_ms() < deadline);
		terminal_nudge(FAKE_ID, &instance->run.server);
		(void)poll(NULL, 0, TERMINAL_LOOK_MS);
	}
	assert_true(end.present);
	assert_int_equal(end.code, 7);
	assert_int_equal(end.signal, 0);
	assert_true(starts_with(end.last_words, "bye\n"));
	cleanup_free char *words = terminal_hear_words(instance);
	assert_string_equal(words, end.last_words);
	exit_record_clear(&end);
	terminal_stop(instance);
}

static void a_pane_that_goes_on_has_no_last_words(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	terminal_start(instance, "read x");
	assert_null(terminal_hear_words(instance));
	assert_true(process_alive(&instance->run.pane));
	terminal_stop(instance);
}

static void only_the_server_of_this_session_is_ended(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	terminal_start(instance, "read x");
	assert_int_equal(terminal_end("zyxw9876", instance->run.socket, NULL), 0);
	assert_true(process_alive(&instance->run.server));
	assert_int_equal(terminal_end(FAKE_ID, instance->run.socket, NULL), 0);
	assert_int_equal(
		process_wait_end(&instance->run.server, clock_ms() + TERMINAL_PLENTY_MS, NULL), 0);
	assert_int_equal(terminal_end(FAKE_ID, instance->run.socket, NULL), 0);
}

static void the_terminal_that_we_are_in_is_our_own(void **state)
{
	(void)state;
	setenv("TMUX", "/run/a/tmux.sock,12,0", 1);
	assert_true(terminal_is_own("/run/a/tmux.sock"));
	assert_false(terminal_is_own("/run/a/tmux"));
	assert_false(terminal_is_own("/run/b/tmux.sock"));
	unsetenv("TMUX");
	assert_false(terminal_is_own("/run/a/tmux.sock"));
}

static void without_a_server_there_is_no_terminal(void **state)
{
	cleanup_instance struct instance *instance = fake_running(*state);
	const char *socket = instance->run.socket;
	cleanup_terminal_state struct terminal_state seen = { 0 };
	cleanup_strvec struct strvec keys = { 0 };
	cleanup_free char *text = NULL;
	struct exit_record end = { 0 };
	strvec_push(&keys, "Enter");
	assert_int_equal(terminal_check(socket, NULL), 0);
	assert_int_equal(terminal_look(socket, &seen, NULL), TERMINAL_NONE);
	assert_int_equal(terminal_text(socket, 0, &text, NULL), TERMINAL_NONE);
	assert_int_equal(terminal_paste(socket, "x", 1, NULL), TERMINAL_NONE);
	assert_int_equal(terminal_press(socket, &keys, NULL), TERMINAL_NONE);
	assert_int_equal(terminal_set_title(socket, "x", "", NULL), TERMINAL_NONE);
	assert_int_equal(terminal_how_ended(socket, &end, NULL), TERMINAL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(what_is_pasted_and_pressed_reaches_the_pane),
		FAKE_TEST(a_look_tells_who_is_there),
		FAKE_TEST(how_the_pane_ended_is_told_with_its_last_words),
		FAKE_TEST(a_pane_that_goes_on_has_no_last_words),
		FAKE_TEST(only_the_server_of_this_session_is_ended),
		cmocka_unit_test(the_terminal_that_we_are_in_is_our_own),
		FAKE_TEST(without_a_server_there_is_no_terminal),
	};
	const int skip = terminal_skip();
	return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
