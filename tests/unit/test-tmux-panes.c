/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The panes of a user's own tmux server: a real one for each test, in a scratch directory. All
 * tests are skipped without tmux.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/program.h"
#include "driver/tmux/tmux-panes.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

enum { PLENTY_MS = 20000, LOOK_MS = 20 };

static char *server_socket, *server_pid;

/* tmux with these words; its output without the last newline, the caller's. */
static char *tmux(const char *const *words)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "tmux", "-u", "-f", "/dev/null", "-S",
							server_socket, NULL });
	strvec_push_array(&argv, words);
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .new_session = true };
	assert_int_equal(child_run(&request, PLENTY_MS, &result, NULL), 0);
	char *text = strbuf_take(&result.output);
	if (!text)
		return xstrdup("");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

#define TMUX(...) tmux((const char *const[]){ __VA_ARGS__, NULL })

/* A server with one pane, in which this shell script runs. */
static void start(const char *script)
{
	free(TMUX("new-session", "-d", "-s", "main", "-x", "60", "-y", "10", "--", "/bin/sh", "-c",
		  script));
	free(server_pid);
	server_pid = TMUX("display-message", "-p", "#{pid}");
	assert_true(*server_pid);
}

static int begin(void **state)
{
	if (set_up(state) < 0)
		return -1;
	server_socket = path_join(scratch, "sock");
	unsetenv("TMUX");
	unsetenv("TMUX_TMPDIR");
	return 0;
}

static int end(void **state)
{
	if (server_pid)
		free(TMUX("kill-server"));
	free(server_pid);
	server_pid = NULL;
	free(server_socket);
	return tear_down(state);
}

/* Waits until tmux with these words says this. */
static void wait_for(const char *answer, const char *const *words)
{
	for (int64_t deadline = clock_ms() + PLENTY_MS; clock_ms() < deadline;) {
		cleanup_free char *text = tmux(words);
		if (streq(text, answer))
			return;
		(void)poll(NULL, 0, LOOK_MS);
	}
	fail_msg("tmux %s never says %s", words[0], answer);
}

#define WAIT_UNTIL(answer, ...) wait_for(answer, (const char *const[]){ __VA_ARGS__, NULL })

/* Waits until the pane shows the word. */
static char *text_with(const char *word)
{
	for (int64_t deadline = clock_ms() + PLENTY_MS; clock_ms() < deadline;) {
		char *text = NULL;
		assert_int_equal(tmux_user_pane_text(server_socket, "%0", &text, NULL), 0);
		if (strstr(text, word))
			return text;
		free(text);
		(void)poll(NULL, 0, LOOK_MS);
	}
	fail_msg("the pane never shows %s", word);
	return NULL;
}

static void a_pane_has_its_terminal_and_its_place(void **state UNUSED)
{
	cleanup_tmux_user_panes struct tmux_user_panes panes = { 0 };
	bool unknown = false;
	start("exec cat");
	free(TMUX("rename-session", "-t", "main", "my own"));
	/* One word alone would go to the user's shell, which may be nologin. */
	free(TMUX("split-window", "-t", "my own", "env", "cat"));
	assert_int_equal(tmux_list_user_panes(server_socket, &panes, &unknown, NULL), 0);
	assert_int_equal(panes.count, 2);
	cleanup_free char *terminal = TMUX("display-message", "-p", "-t", "%1", "#{pane_tty}");
	assert_string_equal(panes.panes[1].id, "%1");
	assert_string_equal(panes.panes[1].terminal, terminal);
	assert_string_equal(panes.panes[1].where, "my own:0.1");
	assert_string_equal(panes.panes[1].socket, server_socket);
	assert_false(unknown);
}

static void a_server_that_is_gone_has_no_panes(void **state UNUSED)
{
	cleanup_tmux_user_panes struct tmux_user_panes panes = { 0 };
	bool unknown = false;
	assert_int_equal(tmux_list_user_panes(server_socket, &panes, &unknown, NULL), 0);
	assert_int_equal(panes.count, 0);
	assert_false(unknown);
	/* it was not started either */
	assert_int_equal(faccessat(here, "sock", F_OK, 0), -1);
}

static void a_silent_server_is_unknown(void **state UNUSED)
{
	cleanup_tmux_user_panes struct tmux_user_panes panes = { 0 };
	bool unknown = false;
	int64_t pid;
	start("exec cat");
	assert_true(parse_int64(server_pid, 1, INT32_MAX, &pid));
	assert_int_equal(kill((pid_t)pid, SIGSTOP), 0);
	int r = tmux_list_user_panes(server_socket, &panes, &unknown, NULL);
	assert_int_equal(kill((pid_t)pid, SIGCONT), 0);
	assert_int_equal(r, 0);
	assert_int_equal(panes.count, 0);
	assert_true(unknown);
}

static void only_our_sockets_count(void **state UNUSED)
{
	cleanup_strvec struct strvec sockets = { 0 };
	cleanup_free char *name = xasprintf("tmux-%u", (unsigned)getuid());
	cleanup_free char *directory = path_join(scratch, name);
	setenv("TMUX_TMPDIR", scratch, 1);
	tmux_user_sockets(&sockets);
	assert_int_equal(sockets.count, 0);
	assert_int_equal(mkdir(directory, 0700), 0);
	cleanup_free char *no_socket = xasprintf("%s/plain", name);
	put(no_socket, "");
	free(server_socket);
	server_socket = path_join(directory, "default");
	start("exec cat");
	/* TMUX names it a second time */
	cleanup_free char *current = xasprintf("%s,%s,0", server_socket, server_pid);
	setenv("TMUX", current, 1);
	tmux_user_sockets(&sockets);
	unsetenv("TMUX");
	assert_int_equal(sockets.count, 1);
	assert_string_equal(sockets.items[0], server_socket);
	/* and it may be elsewhere */
	setenv("TMUX_TMPDIR", "/nowhere", 1);
	setenv("TMUX", current, 1);
	strvec_clear(&sockets);
	tmux_user_sockets(&sockets);
	unsetenv("TMUX");
	assert_int_equal(sockets.count, 1);
}

static void a_text_begins_with_what_scrolled_off(void **state UNUSED)
{
	start("i=0; while [ $i -lt 30 ]; do echo line-$i; i=$((i + 1)); done; exec cat");
	cleanup_free char *text = text_with("line-29");
	assert_true(starts_with(text, "line-0\n"));
}

static void behind_an_alternate_screen_is_the_text_that_will_appear(void **state UNUSED)
{
	start("echo before; printf '\\033[?1049hinside'; exec cat");
	WAIT_UNTIL("1", "display-message", "-p", "-t", "%0", "#{alternate_on}");
	cleanup_free char *text = text_with("before");
	assert_null(strstr(text, "inside"));
}

static void a_key_reaches_the_program_in_any_mode(void **state UNUSED)
{
	/* One that comes just before a long program starts would wait for its end. */
	start("trap 'echo heard' INT; echo ready; while :; do sleep 0.05; done");
	free(text_with("ready"));
	free(TMUX("copy-mode", "-t", "%0"));
	assert_int_equal(tmux_user_pane_press(server_socket, "%0", "C-c", NULL), 0);
	free(text_with("heard"));
	cleanup_error struct error err = { 0 };
	assert_int_equal(tmux_user_pane_press(server_socket, "%9", "C-c", &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
}

static void a_held_pane_outlives_its_program_and_closes_when_released(void **state UNUSED)
{
	struct tmux_user_hold hold = { 0 };
	start("read line; echo last words");
	free(TMUX("new-window", "-d", "-t", "main", "env", "cat"));
	assert_int_equal(tmux_user_pane_hold(server_socket, "%0", &hold, NULL), 0);
	assert_true(hold.is_held);
	assert_false(hold.stays);
	assert_int_equal(tmux_user_pane_press(server_socket, "%0", "Enter", NULL), 0);
	free(text_with("last words"));
	tmux_user_pane_release(server_socket, "%0", &hold);
	assert_false(hold.is_held);
	WAIT_UNTIL("%1", "list-panes", "-a", "-F", "#{pane_id}");
}

static void a_released_pane_has_the_users_own_option(void **state UNUSED)
{
	struct tmux_user_hold hold = { 0 };
	start("exec cat");
	free(TMUX("set-option", "-p", "-t", "%0", "remain-on-exit", "off"));
	assert_int_equal(tmux_user_pane_hold(server_socket, "%0", &hold, NULL), 0);
	cleanup_free char *held = TMUX("show-options", "-p", "-v", "-t", "%0", "remain-on-exit");
	assert_string_equal(held, "on");
	tmux_user_pane_release(server_socket, "%0", &hold);
	cleanup_free char *after = TMUX("show-options", "-p", "-v", "-t", "%0", "remain-on-exit");
	assert_string_equal(after, "off");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pane_has_its_terminal_and_its_place),
		TEST(a_server_that_is_gone_has_no_panes),
		TEST(a_silent_server_is_unknown),
		TEST(only_our_sockets_count),
		TEST(a_text_begins_with_what_scrolled_off),
		TEST(behind_an_alternate_screen_is_the_text_that_will_appear),
		TEST(a_key_reaches_the_program_in_any_mode),
		TEST(a_held_pane_outlives_its_program_and_closes_when_released),
		TEST(a_released_pane_has_the_users_own_option),
	};
	if (!program_is_installed("tmux")) {
		puts("skipped: tmux is not installed");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
