/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The programs that we start: their environment, output and end.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Long, for what must happen; short, for what never does. */
enum { PLENTY_MS = 20000, SOON_MS = 100 };

#define SHELL(script)                         \
	(const char *const[])                 \
	{                                     \
		"/bin/sh", "-c", script, NULL \
	}

static int run(const struct child_request *request, int timeout_ms, struct child_result *ret,
	       struct error *err)
{
	*ret = (struct child_result){ 0 };
	return child_run(request, timeout_ms, ret, err);
}

static void a_child_says_how_it_ended_and_what_it_said(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	struct child_request request = { .argv = SHELL(
						 "printf out; printf 'e\\033r\\nx' >&2; exit 7") };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 7);
	assert_string_equal(strbuf_text(&result.output), "out");
	cleanup_free char *words = child_last_words(&result);
	assert_string_equal(words, "e\\033r");
	child_result_free(&result);
	request.argv = SHELL("kill -9 $$");
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 128 + SIGKILL);
	cleanup_free char *none = child_last_words(&result);
	assert_string_equal(none, "no message");
}

static void long_words_are_cut_between_two_characters(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	strbuf_adds(&result.errors, "x");
	for (int i = 0; i < 300; i++)
		strbuf_adds(&result.errors, "é");
	cleanup_free char *words = child_last_words(&result);
	assert_int_equal(strlen(words), 499);
	assert_true(ends_with(words, "é"));
}

static void a_program_that_is_not_there_is_an_outcome(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "agentdeck-no-such-program", NULL },
	};
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), CHILD_NOT_INSTALLED);
}

static void a_child_inherits_neither_descriptors_nor_signal_settings(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	struct child_request request = {
		.argv = (const char *const[]){ "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status",
					       NULL },
	};
	int leaky = fcntl(here, F_DUPFD, 50); /* without O_CLOEXEC */
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	void (*before)(int) = signal(SIGINT, SIG_IGN);
	int r = run(&request, PLENTY_MS, &result, NULL);
	(void)signal(SIGINT, before);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(r, 0);
	/* Except for 32 and 33, which belong to the C library. */
	assert_true(
		starts_with(strbuf_text(&result.output), "SigBlk:\t0000000000000000\nSigIgn:\t"));
	assert_true(ends_with(strbuf_text(&result.output), "0000000\n"));
	child_result_free(&result);
	request.argv = (const char *const[]){ "ls", "/proc/self/fd", NULL };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	(void)close(leaky);
	/* 3 is the descriptor that reads the directory. */
	assert_string_equal(strbuf_text(&result.output), "0\n1\n2\n3\n");
}

static void a_child_reads_all_its_input_while_it_writes(void **state UNUSED)
{
	enum { MEGABYTES = 3 << 20 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *text = xcalloc(MEGABYTES + 1, 1);
	memset(text, 'x', MEGABYTES);
	const struct child_request request = { .argv = (const char *const[]){ "cat", NULL },
					       .input = text,
					       .input_length = MEGABYTES,
					       .max_output = MEGABYTES };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	assert_int_equal(result.output.length, MEGABYTES);
	assert_memory_equal(result.output.data, text, MEGABYTES);
}

static void a_child_that_does_not_read_does_not_end_us(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *text = xcalloc(1 << 20, 1);
	const struct child_request request = { .argv = SHELL("exec <&-; echo done"),
					       .input = text,
					       .input_length = 1 << 20 };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	assert_string_equal(strbuf_text(&result.output), "done\n");
}

static void a_silent_child_is_given_up_at_the_deadline(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	const struct child_request request = { .argv = (const char *const[]){ "sleep", "1000",
									      NULL } };
	assert_int_equal(run(&request, SOON_MS, &result, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_child_that_never_stops_talking_is_given_up_too(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	const struct child_request request = { .argv = (const char *const[]){ "yes", NULL } };
	assert_int_equal(run(&request, SOON_MS, &result, &err), -1);
	assert_true(err.code == ERROR_TIMEOUT || err.code == ERROR_CHILD);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void more_output_than_wanted_is_an_error(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	const struct child_request request = { .argv = SHELL("printf 12345"), .max_output = 4 };
	assert_int_equal(run(&request, PLENTY_MS, &result, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_null(result.output.data);
}

static void output_without_end_kills_a_child_that_only_reads(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "yes", NULL },
		.max_output = 4,
		.kill_at_max = true,
	};
	assert_int_equal(run(&request, PLENTY_MS, &result, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* The grandchild holds both pipes, as a daemon does that the child leaves behind. */
static void a_childs_end_is_not_that_of_its_pipes(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = SHELL("sleep 1000 & echo $!") };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	int64_t pid;
	char *text = result.output.data;
	text[strcspn(text, "\n")] = '\0';
	assert_true(parse_int64(text, 2, INT_MAX, &pid));
	assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
}

static bool ends_within(const struct child *child, int timeout_ms)
{
	struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
	return poll(&end, 1, timeout_ms) == 1;
}

/* It needs no reader while it runs; and when its reader has ended, no pipe breaks. */
static void a_child_that_outlives_us_waits_for_no_reader(void **state UNUSED)
{
	enum { TAIL = 1000 };
	struct child child;
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = SHELL(
			"head -c 3000000 /dev/zero; echo; echo last; echo why >&2; head -c 100000 /dev/zero >&2; exit 3"),
		.outlives_us = true,
		.max_output = TAIL,
	};
	assert_int_equal(child_start(&request, &child, NULL), 0);
	assert_true(ends_within(&child, PLENTY_MS));
	assert_int_equal(child_finish(&child, clock_ms() + PLENTY_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 3);
	assert_int_equal(result.output.length, TAIL);
	assert_memory_equal(result.output.data + TAIL - 6, "\nlast\n", 6);
	assert_int_equal(result.errors.length, 64 << 10);
	cleanup_free char *words = child_last_words(&result);
	assert_string_equal(words, "why");
}

/* As the program before execve(2) leaves them: one has ended, one has not. */
static void children_of_an_earlier_image_are_inherited(void **state UNUSED)
{
	int gate[2];
	struct child *children = NULL;
	size_t count = 1;
	siginfo_t info;
	assert_int_equal(child_inherit(&children, &count, NULL), 0);
	assert_int_equal(count, 0);
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	pid_t ended = fork();
	if (ended == 0)
		_exit(0);
	pid_t stays = fork();
	if (stays == 0) {
		char byte;
		(void)close(gate[1]);
		_exit((int)read(gate[0], &byte, 1));
	}
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
	free(children);
	assert_int_equal(child_inherit(&children, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(children[0].pid, stays);
	assert_false(ends_within(&children[0], 0));
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOHANG), -1);
	(void)close(gate[1]);
	assert_true(ends_within(&children[0], PLENTY_MS));
	child_abandon(&children[0]);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	(void)close(gate[0]);
	free(children);
}

static void a_gate_that_nobody_opens_ends_with_us(void **state UNUSED)
{
	struct child child;
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = SHELL("read x && echo open $x"),
					       .gate = true };
	assert_int_equal(child_start(&request, &child, NULL), 0);
	assert_int_equal(fs_write_all(child.gate, "sesame\n", 7, "gate", NULL), 0);
	assert_int_equal(child_finish(&child, clock_ms() + PLENTY_MS, &result, NULL), 0);
	assert_string_equal(strbuf_text(&result.output), "open sesame\n");
	assert_int_equal(child_start(&request, &child, NULL), 0);
	child_abandon(&child);
	child_abandon(&child);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_foreground_program_has_our_descriptors(void **state UNUSED)
{
	int status = -1;
	assert_int_equal(child_foreground(SHELL("exit 5"), NULL, NULL, &status, NULL), 0);
	assert_int_equal(status, 5);
	assert_int_equal(
		child_foreground((const char *const[]){ "agentdeck-no-such-program", NULL }, NULL,
				 NULL, &status, NULL),
		CHILD_NOT_INSTALLED);
}

static bool let_it_go_on(void *data)
{
	++*(int *)data;
	put("done", "");
	return true;
}

static bool end_it_now(void *data)
{
	++*(int *)data;
	return false;
}

static void a_foreground_program_goes_on_only_if_it_may(void **state UNUSED)
{
	int asked = 0, status = -1;
	struct child_watch watch = {
		.fd = -1, .data = &asked, .deadline_ms = clock_ms(), .may_go_on = let_it_go_on
	};
	cleanup_free char *script = xasprintf("until [ -e %s/done ]; do sleep 0.01; done; exit 5",
					      scratch);
	assert_int_equal(child_foreground(SHELL(script), NULL, &watch, &status, NULL), 0);
	assert_int_equal(status, 5);
	assert_int_equal(asked, 1);
	watch.may_go_on = end_it_now;
	assert_int_equal(child_foreground(SHELL("exec sleep 100"), NULL, &watch, &status, NULL), 0);
	assert_int_equal(status, 128 + SIGKILL);
	assert_int_equal(asked, 2);
}

static bool want_its_end(void *data)
{
	*(bool *)data = true;
	return false;
}

static void a_foreground_program_is_ended_when_a_watch_says_so(void **state UNUSED)
{
	bool ends = false;
	int status = -1, fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	const struct child_watch watch = {
		.fd = fds[0], .on_readable = want_its_end, .data = &ends, .ends = &ends
	};
	assert_int_equal(child_foreground(SHELL("exec sleep 100"), NULL, &watch, &status, NULL), 0);
	assert_int_equal(status, 128 + SIGKILL);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static bool read_two(void *data)
{
	int *pipe_and_count = data;
	char byte;
	assert_int_equal(read(pipe_and_count[0], &byte, 1), 1);
	/* What is left in the pipe then wakes nobody. */
	return ++pipe_and_count[2] < 2;
}

static bool end_it(void *data)
{
	const int *pipe_and_count = data;
	if (pipe_and_count[2] < 2)
		return true;
	put("done", "");
	return false;
}

static void a_foreground_program_ends_beside_several_watches(void **state UNUSED)
{
	int one[3] = { 0 }, two[2], status = -1;
	assert_int_equal(pipe2(one, O_CLOEXEC), 0);
	assert_int_equal(pipe2(two, O_CLOEXEC), 0);
	assert_int_equal(fs_write_all(one[1], "abc", 3, "a pipe", NULL), 0);
	assert_int_equal(fs_write_all(two[1], "a", 1, "a pipe", NULL), 0);
	const struct child_watch none = { .fd = -1 };
	const struct child_watch second = {
		.fd = two[0], .on_readable = end_it, .data = one, .next = &none
	};
	const struct child_watch first = {
		.fd = one[0], .on_readable = read_two, .data = one, .next = &second
	};
	cleanup_free char *script = xasprintf("until [ -e %s/done ]; do sleep 0.01; done; exit 5",
					      scratch);
	assert_int_equal(child_foreground(SHELL(script), NULL, &first, &status, NULL), 0);
	assert_int_equal(status, 5);
	assert_int_equal(one[2], 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(close(one[i]), 0);
		assert_int_equal(close(two[i]), 0);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_says_how_it_ended_and_what_it_said),
		TEST(long_words_are_cut_between_two_characters),
		TEST(a_program_that_is_not_there_is_an_outcome),
		TEST(a_child_inherits_neither_descriptors_nor_signal_settings),
		TEST(a_child_reads_all_its_input_while_it_writes),
		TEST(a_child_that_does_not_read_does_not_end_us),
		TEST(a_silent_child_is_given_up_at_the_deadline),
		TEST(a_child_that_never_stops_talking_is_given_up_too),
		TEST(more_output_than_wanted_is_an_error),
		TEST(output_without_end_kills_a_child_that_only_reads),
		TEST(a_childs_end_is_not_that_of_its_pipes),
		TEST(a_child_that_outlives_us_waits_for_no_reader),
		TEST(children_of_an_earlier_image_are_inherited),
		TEST(a_gate_that_nobody_opens_ends_with_us),
		TEST(a_foreground_program_has_our_descriptors),
		TEST(a_foreground_program_ends_beside_several_watches),
		TEST(a_foreground_program_goes_on_only_if_it_may),
		TEST(a_foreground_program_is_ended_when_a_watch_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
