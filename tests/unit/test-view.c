/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program agentdeck-view on a real terminal, with a real capsule.
 */
#include "unit/capsule-fixture.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>

/* --- a window --------------------------------------------------------------------------------- */

struct pane {
	int terminal;
	pid_t pid;
	struct strbuf seen;
};

static struct pane open_pane(unsigned attempt)
{
	struct pane pane = { 0 };
	const struct winsize size = { .ws_row = 33, .ws_col = 99 };
	cleanup_free char *program = built("agentdeck-view");
	cleanup_free char *number = xasprintf("%u", attempt);
	cleanup_free char *collected = path_join(scratch, "collected");
	cleanup_free char *script = xasprintf("echo again >> %s", collected);
	pane.pid = forkpty(&pane.terminal, NULL, NULL, &size);
	if (pane.pid == 0) {
		(void)execl(program, "agentdeck-view", scratch, RUN, number, "--", "/bin/sh", "-c",
			    script, NULL);
		_exit(127);
	}
	assert_true(pane.pid > 0);
	return pane;
}

/* Read once.  False: the terminal has ended. */
static bool look(struct pane *pane)
{
	char buffer[4096];
	struct pollfd event = { .fd = pane->terminal, .events = POLLIN };
	assert_int_equal(poll(&event, 1, SOON_MS), 1);
	ssize_t n = read(pane->terminal, buffer, sizeof(buffer));
	if (n > 0)
		strbuf_add(&pane->seen, buffer, (size_t)n);
	return n > 0;
}

static void await_shown(struct pane *pane, const char *text)
{
	while (!strstr(strbuf_text(&pane->seen), text))
		if (!look(pane))
			fail_msg("the window shows: %s", strbuf_text(&pane->seen));
}

static void type(const struct pane *pane, const char *text)
{
	assert_int_equal(write(pane->terminal, text, strlen(text)), strlen(text));
}

/* Wait for the end: the wait status. */
static int pane_ended(struct pane *pane)
{
	int status;
	while (look(pane))
		;
	assert_int_equal(waitpid(pane->pid, &status, 0), pane->pid);
	(void)close(pane->terminal);
	strbuf_free(&pane->seen);
	return status;
}

static void kill_pane(struct pane *pane)
{
	(void)kill(pane->pid, SIGKILL);
	(void)pane_ended(pane);
}

static void start(unsigned attempt, const char *script)
{
	cleanup_capsule struct capsule *capsule = connected();
	(void)started(capsule, attempt, script);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void keys_output_and_size_go_through(void **state UNUSED)
{
	start(1, "while read line; do echo \"got $line at $(stty size)\"; done");
	struct pane pane = open_pane(1);
	type(&pane, "words\n");
	await_shown(&pane, "got words at 33 99");
	const struct winsize size = { .ws_row = 20, .ws_col = 60 };
	assert_int_equal(ioctl(pane.terminal, TIOCSWINSZ, &size), 0);
	/* The size goes by a signal, and the words by the terminal: either may come first. */
	while (!strstr(strbuf_text(&pane.seen), "at 20 60")) {
		strbuf_free(&pane.seen);
		type(&pane, "more\n");
		await_shown(&pane, "got more at ");
		await_shown(&pane, "\n");
	}
	kill_pane(&pane);
}

static void control_keys_are_the_agents(void **state UNUSED)
{
	start(1, "trap 'echo interrupted; exit 5' INT; echo up; while :; do sleep 0.05; done");
	struct pane pane = open_pane(1);
	await_shown(&pane, "up");
	type(&pane, "\003");
	await_shown(&pane, "interrupted");
	const int status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
}

static void it_exits_as_the_agent_did(void **state UNUSED)
{
	start(1, "read line; exit 7");
	struct pane pane = open_pane(1);
	type(&pane, "\n");
	const int status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void it_dies_of_the_agents_signal(void **state UNUSED)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGSEGV, SIGHUP };
	for (unsigned i = 0; i < ARRAY_SIZE(signals); i++) {
		cleanup_free char *script = xasprintf("read line; kill -%d $$", signals[i]);
		start(i + 1, script);
		struct pane pane = open_pane(i + 1);
		type(&pane, "\n");
		const int status = pane_ended(&pane);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		assert_false(WCOREDUMP(status));
	}
}

static void a_killed_window_is_replaced_and_the_agent_has_not_noticed(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	const struct process_id agent = started(
		capsule, 1, "echo first words; while read line; do echo got $line; done");
	struct pane first = open_pane(1);
	await_shown(&first, "first words");
	kill_pane(&first);
	struct pane second = open_pane(1);
	await_shown(&second, "first words");
	type(&second, "more\n");
	await_shown(&second, "got more");
	assert_true(process_alive(&agent));
	kill_pane(&second);
}

static void a_killed_capsule_is_told_apart_from_every_end_of_an_agent(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	const struct process_id agent = started(capsule, 1, "echo up; exec sleep 100");
	struct pane pane = open_pane(1);
	await_shown(&pane, "up");
	(void)kill(capsule_pid, SIGKILL);
	(void)capsule_ended();
	(void)process_signal(&agent, SIGKILL, NULL);
	const int status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENDPOINT_EXIT_GONE);
}

static void a_window_that_hung_connects_again(void **state UNUSED)
{
	int status;
	start(1, "echo up; read line; head -c 20000000 /dev/zero; touch written; echo still here;"
		 " while read line; do echo got $line; done");
	struct pane pane = open_pane(1);
	await_shown(&pane, "up");
	type(&pane, "\n");
	/* The first part of the output has come, so it hangs in the middle. */
	assert_true(look(&pane));
	(void)kill(pane.pid, SIGSTOP);
	assert_int_equal(waitpid(pane.pid, &status, WUNTRACED), pane.pid);
	UNTIL(exists("written"));
	(void)kill(pane.pid, SIGCONT);
	/* A zero byte ends a text, so look at the end of what has come. */
	do {
		const size_t kept = pane.seen.length < 16 ? pane.seen.length : 16;
		memmove(pane.seen.data, pane.seen.data + pane.seen.length - kept, kept);
		pane.seen.length = kept;
		assert_true(look(&pane));
	} while (!memmem(pane.seen.data, pane.seen.length, "still", 5));
	type(&pane, "words\n");
	strbuf_free(&pane.seen);
	await_shown(&pane, "got words");
	kill_pane(&pane);
}

static void without_a_capsule_the_record_tells(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	(void)started(capsule, 1, "exit 7");
	UNTIL(has_ended(capsule));
	(void)kill(capsule_pid, SIGKILL);
	(void)capsule_ended();
	struct pane pane = open_pane(1);
	int status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	/* Of another attempt it tells nothing. */
	pane = open_pane(2);
	status = pane_ended(&pane);
	assert_int_equal(WEXITSTATUS(status), ENDPOINT_EXIT_GONE);
}

static void a_stopped_capsule_ends_the_window_as_the_agent(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	(void)started(capsule, 1,
		      "trap '' HUP; trap 'exit 6' TERM; echo up;"
		      " while :; do sleep 0.05; done");
	struct pane pane = open_pane(1);
	await_shown(&pane, "up");
	assert_int_equal(capsule_stop(capsule, SOON_MS, NULL), 0);
	const int status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 6);
	assert_int_equal(capsule_ended(), 6);
}

static void reports_are_collected(void **state UNUSED)
{
	cleanup_free char *program = built("agentdeck-capsule");
	cleanup_free char *script = xasprintf(
		"ln -s %s agentdeck; while read line; do echo '{}' | ./agentdeck hook"
		" --instance api; echo reported; done",
		program);
	start(1, script);
	struct pane pane = open_pane(1);
	/* Once for what was there before. */
	UNTIL(exists("collected"));
	assert_int_equal(unlinkat(here, "collected", 0), 0);
	type(&pane, "\n");
	await_shown(&pane, "reported");
	UNTIL(exists("collected"));
	kill_pane(&pane);
}

static void a_terminal_is_left_as_it_was(void **state UNUSED)
{
	struct termios before, after;
	start(1, "echo up; read line; exit 0");
	struct pane pane = open_pane(1);
	/* Our own end of the other side, so that it outlives the view. */
	cleanup_close int slave = ioctl(pane.terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	await_shown(&pane, "up");
	assert_int_equal(tcgetattr(slave, &before), 0);
	assert_false(before.c_lflag & ICANON);
	type(&pane, "\n");
	assert_int_equal(waitpid(pane.pid, NULL, 0), pane.pid);
	assert_int_equal(tcgetattr(slave, &after), 0);
	assert_true(after.c_lflag & ICANON);
	assert_true(after.c_lflag & ECHO);
	(void)close(pane.terminal);
	strbuf_free(&pane.seen);
}

static void the_capsules_own_view_does_the_same(void **state UNUSED)
{
	int status;
	struct pane pane = { 0 };
	cleanup_free char *program = built("agentdeck-capsule");
	start(1, "read line; echo got $line; exit 7");
	pane.pid = forkpty(&pane.terminal, NULL, NULL, NULL);
	if (pane.pid == 0) {
		(void)execl(program, "agentdeck-capsule", "view", scratch, RUN, "1", NULL);
		_exit(127);
	}
	type(&pane, "words\n");
	await_shown(&pane, "got words");
	status = pane_ended(&pane);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_capsule, tear_down_capsule)
	const struct CMUnitTest tests[] = {
		TEST(keys_output_and_size_go_through),
		TEST(control_keys_are_the_agents),
		TEST(it_exits_as_the_agent_did),
		TEST(it_dies_of_the_agents_signal),
		TEST(a_killed_window_is_replaced_and_the_agent_has_not_noticed),
		TEST(a_killed_capsule_is_told_apart_from_every_end_of_an_agent),
		TEST(a_window_that_hung_connects_again),
		TEST(without_a_capsule_the_record_tells),
		TEST(a_stopped_capsule_ends_the_window_as_the_agent),
		TEST(reports_are_collected),
		TEST(a_terminal_is_left_as_it_was),
		TEST(the_capsules_own_view_does_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
