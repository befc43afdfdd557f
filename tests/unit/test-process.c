/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes: our children, and those that are not.
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

/* --- child ------------------------------------------------------------------------------------ */

#define SHELL(script) (const char *const[]){ "/bin/sh", "-c", script, NULL }

static int run(const struct child_request *request, int timeout_ms, struct child_result *ret,
	       struct error *err)
{
	*ret = (struct child_result){ 0 };
	return child_run(request, timeout_ms, ret, err);
}

static void a_child_says_how_it_ended_and_what_it_said(void **state UNUSED)
{
	cleanup_child_result struct child_result result = { 0 };
	struct child_request request = { .argv = SHELL("printf out; printf 'e\\033r\\nx' >&2; exit 7") };
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
		.argv = (const char *const[]){ "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL },
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
	/* But for 32 and 33, which are the C library's own. */
	assert_true(starts_with(strbuf_text(&result.output), "SigBlk:\t0000000000000000\nSigIgn:\t"));
	assert_true(ends_with(strbuf_text(&result.output), "0000000\n"));
	child_result_free(&result);
	request.argv = (const char *const[]){ "ls", "/proc/self/fd", NULL };
	assert_int_equal(run(&request, PLENTY_MS, &result, NULL), 0);
	(void)close(leaky);
	/* 3 is the one that reads the directory. */
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
	const struct child_request request = { .argv = (const char *const[]){ "sleep", "1000", NULL } };
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

/* Nobody reads while it runs; and where its reader has ended, there is no pipe to break. */
static void a_child_that_outlives_us_waits_for_no_reader(void **state UNUSED)
{
	enum { TAIL = 1000 };
	struct child child;
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = SHELL("head -c 3000000 /dev/zero; echo; echo last; echo why >&2; head -c 100000 /dev/zero >&2; exit 3"),
		.outlives_us = true, .max_output = TAIL,
	};
	assert_int_equal(child_start(&request, &child, NULL), 0);
	assert_int_equal(child_wait_any(&child, 1, clock_ms() + PLENTY_MS), 0);
	assert_int_equal(child_finish(&child, clock_ms() + PLENTY_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 3);
	assert_int_equal(result.output.length, TAIL);
	assert_memory_equal(result.output.data + TAIL - 6, "\nlast\n", 6);
	assert_int_equal(result.errors.length, 64 << 10);
	cleanup_free char *words = child_last_words(&result);
	assert_string_equal(words, "why");
}

/* As the image before execve(2) leaves them: one has ended, one has not. */
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
	assert_int_equal(child_wait_any(children, 1, clock_ms()), 1);
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOHANG), -1);
	(void)close(gate[1]);
	assert_int_equal(child_wait_any(children, 1, clock_ms() + PLENTY_MS), 0);
	child_abandon(&children[0]);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	(void)close(gate[0]);
	free(children);
}

static void of_several_children_the_one_that_ended_is_told(void **state UNUSED)
{
	const struct child_request stays = { .argv = (const char *const[]){ "cat", NULL }, .gate = true };
	const struct child_request ends = { .argv = (const char *const[]){ "true", NULL } };
	struct child children[3] = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	assert_int_equal(child_start(&stays, &children[0], NULL), 0);
	assert_int_equal(child_start(&ends, &children[2], NULL), 0);
	assert_int_equal(child_wait_any(children, 3, clock_ms() + PLENTY_MS), 2);
	assert_int_equal(child_finish(&children[2], clock_ms() + PLENTY_MS, &result, NULL), 0);
	/* The one that is left goes on. */
	assert_int_equal(child_wait_any(children, 3, clock_ms()), 3);
	child_abandon(&children[0]);
}

static void a_gate_that_nobody_opens_ends_with_us(void **state UNUSED)
{
	struct child child;
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = SHELL("read x && echo open $x"), .gate = true };
	assert_int_equal(child_start(&request, &child, NULL), 0);
	assert_int_equal(fs_write_all(child.gate, "sesame\n", 7, "gate", NULL), 0);
	assert_int_equal(child_finish(&child, clock_ms() + PLENTY_MS, &result, NULL), 0);
	assert_string_equal(strbuf_text(&result.output), "open sesame\n");
	assert_int_equal(child_start(&request, &child, NULL), 0);
	child_abandon(&child);
	child_abandon(&child);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void programs_are_found_as_execvp_would_but_only_in_absolute_folders(void **state UNUSED)
{
	cleanup_free char *path = xasprintf(":.:relative:%s", scratch);
	cleanup_free char *found = NULL;
	put("tool", "#!/bin/sh\n");
	assert_int_equal(child_find_program("tool", path, NULL, &found, NULL), CHILD_NOT_INSTALLED);
	assert_int_equal(fchmodat(here, "tool", 0700, 0), 0);
	assert_int_equal(child_find_program("tool", path, NULL, &found, NULL), 0);
	assert_true(starts_with(found, scratch));
	free(TAKE_PTR(found));
	assert_int_equal(child_find_program("./tool", path, scratch, &found, NULL), 0);
	assert_int_equal(child_find_program("../nothing", path, scratch, &found, NULL),
			 CHILD_NOT_INSTALLED);
	assert_int_equal(mkdirat(here, "folder", 0700), 0);
	assert_int_equal(child_find_program("folder", path, NULL, &found, NULL), CHILD_NOT_INSTALLED);
}

static void a_foreground_program_has_our_descriptors(void **state UNUSED)
{
	int status = -1;
	assert_int_equal(child_foreground(SHELL("exit 5"), NULL, -1, NULL, NULL, &status, NULL), 0);
	assert_int_equal(status, 5);
	assert_int_equal(child_foreground((const char *const[]){ "agentdeck-no-such-program", NULL },
					  NULL, -1, NULL, NULL, &status, NULL),
			 CHILD_NOT_INSTALLED);
}

/* --- process ---------------------------------------------------------------------------------- */

static pid_t sleeper(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void a_process_is_known_by_pid_and_start(void **state UNUSED)
{
	struct process_id id, other;
	pid_t pid = sleeper();
	assert_int_equal(process_identify(pid, &id, NULL), 0);
	assert_true(process_alive(&id));
	other = id;
	other.start++;
	assert_false(process_alive(&other));
	/* The same pid, another process: it must not be hit. */
	assert_int_equal(process_signal(&other, SIGKILL, NULL), PROCESS_GONE);
	assert_int_equal(process_wait_end(&other, clock_ms() + PLENTY_MS, NULL), 0);
	assert_int_equal(process_wait_end(&id, clock_ms() + SOON_MS, NULL), PROCESS_STILL_ALIVE);
	assert_false(process_is_zombie(&id));
	assert_int_equal(process_signal(&id, SIGKILL, NULL), 0);
	assert_int_equal(process_wait_end(&id, clock_ms() + PLENTY_MS, NULL), 0);
	assert_true(process_is_zombie(&id));
	assert_false(process_alive(&id));
	assert_int_equal(process_identify(pid, &other, NULL), PROCESS_GONE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(process_is_zombie(&id));
	assert_int_equal(process_signal(&id, SIGKILL, NULL), PROCESS_GONE);
}

static void nobody_is_no_process(void **state UNUSED)
{
	const struct process_id none = { 0 };
	struct process_id id;
	assert_false(process_alive(&none));
	assert_false(process_is_zombie(&none));
	assert_int_equal(process_signal(&none, SIGKILL, NULL), PROCESS_GONE);
	assert_int_equal(process_identify(-1, &id, NULL), PROCESS_GONE);
}

static void a_tree_and_an_environment_find_the_descendants(void **state UNUSED)
{
	/* The name is one that confuses a reader of /proc/PID/stat. */
	cleanup_free char *marker = xasprintf("AGENTDECK_TEST_MARKER=%d", (int)getpid());
	char *const environment[] = { marker, NULL };
	struct child child;
	const struct child_request request = {
		.argv = SHELL("printf ') S 1 (' > /proc/self/comm; exec 3<&0; /bin/sh -c 'echo up; "
			      "read x' <&3 & wait"),
		.environment = environment,
		.gate = true,
	};
	char line[8];
	assert_int_equal(child_start(&request, &child, NULL), 0);
	assert_int_equal(read(child.output, line, sizeof(line)), 3);
	struct process_id root;
	assert_int_equal(process_identify(child.pid, &root, NULL), 0);
	struct process_id *tree = NULL, *marked = NULL;
	size_t tree_count = 0, marked_count = 0;
	assert_int_equal(process_tree(&root, &tree, &tree_count, NULL), 0);
	assert_int_equal(process_find_by_environment(marker, &marked, &marked_count, NULL), 0);
	assert_int_equal(tree_count, 2);
	assert_int_equal(marked_count, tree_count);
	for (size_t i = 0; i < marked_count; i++)
		(void)process_signal(&marked[i], SIGKILL, NULL);
	child_abandon(&child);
	free(tree);
	free(marked);
}

/* What cannot be known is not "gone": on that word something is ended, or begun a second time. */
static void who_cannot_be_looked_at_is_not_dead(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct process_id own = { 0 }, *ids = NULL;
	struct rlimit usual;
	size_t count = 0;
	int fd = -1;
	assert_int_equal(process_identify(getpid(), &own, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = usual.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct process_id seen = own, other = { .pid = own.pid, .start = own.start + 1 };
	int identified = process_identify(own.pid, &seen, &err);
	bool alive = process_alive(&own), other_alive = process_alive(&other);
	int opened = process_open(&own, &fd, NULL);
	int tree = process_tree(&own, &ids, &count, NULL);
	int marked = process_find_by_environment("A=B", &ids, &count, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	assert_int_equal(identified, -1);
	assert_int_equal(err.os_errno, EMFILE);
	assert_true(alive && other_alive);
	assert_int_equal(opened, -1);
	assert_int_equal(tree, -1);
	assert_int_equal(marked, -1);
	assert_true(!ids && fd == -1 && process_same(&seen, &own));
	assert_false(process_alive(&other));
}

static void a_boot_id_is_compared(void **state UNUSED)
{
	assert_true(process_same_boot(process_boot_id()));
	assert_true(process_same_boot(""));
	assert_false(process_same_boot("11111111-2222-4333-8444-555555555555"));
	assert_false(process_same_boot(NULL));
}

static void a_boot_and_an_argv_have_a_text(void **state UNUSED)
{
	cleanup_strvec struct strvec argv = { 0 };
	assert_int_equal(strlen(process_boot_id()), 36);
	assert_int_equal(process_argv(getpid(), &argv, NULL), 0);
	assert_true(argv.count >= 1);
	assert_int_equal(process_argv(INT_MAX, &argv, NULL), PROCESS_GONE);
}
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_says_how_it_ended_and_what_it_said),
		TEST(a_program_that_is_not_there_is_an_outcome),
		TEST(a_child_inherits_neither_descriptors_nor_signal_settings),
		TEST(a_child_reads_all_its_input_while_it_writes),
		TEST(a_child_that_does_not_read_does_not_end_us),
		TEST(a_silent_child_is_given_up_at_the_deadline),
		TEST(a_child_that_never_stops_talking_is_given_up_too),
		TEST(more_output_than_wanted_is_an_error),
		TEST(a_childs_end_is_not_that_of_its_pipes),
		TEST(a_child_that_outlives_us_waits_for_no_reader),
		TEST(children_of_an_earlier_image_are_inherited),
		TEST(of_several_children_the_one_that_ended_is_told),
		TEST(a_gate_that_nobody_opens_ends_with_us),
		TEST(programs_are_found_as_execvp_would_but_only_in_absolute_folders),
		TEST(a_foreground_program_has_our_descriptors),
		TEST(a_process_is_known_by_pid_and_start),
		TEST(nobody_is_no_process),
		TEST(a_tree_and_an_environment_find_the_descendants),
		TEST(who_cannot_be_looked_at_is_not_dead),
		TEST(a_boot_id_is_compared),
		TEST(a_boot_and_an_argv_have_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
