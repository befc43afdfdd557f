/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sender of a report, tested with real processes: this program is the agent, and, when started
 * with "hook" or "orphan", the hook.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/clock.h"
#include "engine/place/sender.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 30000 };

static char *self;

/* ---- as the hook ---- */

static int print_sender(int fd)
{
	struct sender sender = { 0 };
	sender_find(&sender);
	for (size_t i = 0; i < sender.count; i++)
		dprintf(fd, "%d/%llu\n", (int)sender.processes[i].pid,
			(unsigned long long)sender.processes[i].start);
	return 0;
}

/* The hook's parent has ended by then. */
static int print_sender_of_orphan(void)
{
	const pid_t parent = getpid();
	int ends[2];
	char chunk[1024];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return 1;
	pid_t middle = fork();
	if (middle == 0) {
		const pid_t adopted = getpid();
		if (fork() != 0)
			_exit(0);
		for (int64_t deadline = clock_ms() + PATIENCE_MS;
		     getppid() == adopted && clock_ms() < deadline;)
			(void)poll(NULL, 0, 1);
		_exit(getppid() == parent ? 1 : print_sender(ends[1]));
	}
	(void)close(ends[1]);
	(void)waitpid(middle, NULL, 0);
	for (ssize_t length; (length = read(ends[0], chunk, sizeof(chunk))) > 0;)
		(void)!write(STDOUT_FILENO, chunk, (size_t)length);
	return 0;
}

/* ---- as the agent ---- */

/* What the hook prints about its sender when it is run like this.  "@" is this program. */
static char *say(const char *const *argv)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	for (; *argv; argv++) {
		const char *at = strchr(*argv, '@');
		if (at)
			strvec_pushf(&words, "%.*s%s%s", (int)(at - *argv), *argv, self, at + 1);
		else
			strvec_push(&words, *argv);
	}
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&words) };
	assert_int_equal(child_run(&request, PATIENCE_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 0);
	return xstrdup(strbuf_text(&result.output));
}
#define SAY(...) say((const char *const[]){ __VA_ARGS__, NULL })

static char *me(void)
{
	struct process_id id;
	assert_int_equal(process_identify(getpid(), &id, NULL), 0);
	return xasprintf("%d/%llu\n", (int)id.pid, (unsigned long long)id.start);
}

static void a_hook_speaks_for_the_agent_that_ran_it(void **state UNUSED)
{
	cleanup_free char *direct = SAY("@", "hook"), *agent = me();
	assert_true(starts_with(direct, agent));
}

static void a_shell_that_runs_the_hook_is_passed_over(void **state UNUSED)
{
	cleanup_free char *agent = me();
	cleanup_free char *shell = SAY("/bin/sh", "-c", "@ hook; exit 0");
	cleanup_free char *options = SAY("/bin/sh", "-u", "-ec",
					 "'@' hook --instance 0123abcd; exit 0");
	cleanup_free char *twice = SAY("/bin/sh", "-c", "/bin/sh -c '@ hook; exit 0'; exit 0");
	assert_true(starts_with(shell, agent));
	assert_true(starts_with(options, agent));
	assert_true(starts_with(twice, agent));
}

/* An agent inside the agent, started through a shell that does something else, and one that is a
 * script. */
static void what_runs_in_between_is_the_sender(void **state UNUSED)
{
	cleanup_free char *agent = me(), *script = path_join(scratch, "agent");
	put("agent", "\"$1\" hook\nexit 0\n");
	cleanup_free char *other = SAY("/bin/sh", script, "@");
	cleanup_free char *below = SAY(
		"/bin/sh", "-c", "echo 'fix the hook' >/dev/null; /bin/sh \"$0\" \"$1\"; exit 0",
		script, "@");
	assert_false(starts_with(other, agent));
	assert_non_null(strstr(other, agent));
	assert_false(starts_with(below, agent));
	assert_non_null(strstr(below, agent));
}

static void an_orphan_speaks_for_nobody(void **state UNUSED)
{
	cleanup_free char *agent = me(), *orphan = SAY("@", "orphan");
	assert_null(strstr(orphan, agent));
}

static void a_sender_is_compared_with_the_processes_of_the_run(void **state UNUSED)
{
	const struct process_id pane = { 10, 1 }, agent = { 11, 1 }, nested = { 12, 1 };
	struct run run = { .pane = pane };
	struct sender sender = { .processes = { pane }, .count = 1 };
	assert_int_equal(sender_relation(&(struct sender){ 0 }, &run), SENDER_UNKNOWN);
	assert_int_equal(sender_relation(&(struct sender){ 0 }, &(struct run){ 0 }),
			 SENDER_UNKNOWN);
	assert_int_equal(sender_relation(&sender, &run), SENDER_AGENT);
	sender = (struct sender){ .processes = { agent, pane }, .count = 2 };
	assert_int_equal(sender_relation(&sender, &run), SENDER_UNKNOWN);
	run.reporter = agent;
	assert_int_equal(sender_relation(&sender, &run), SENDER_AGENT);
	sender = (struct sender){ .processes = { nested, agent, pane }, .count = 3 };
	assert_int_equal(sender_relation(&sender, &run), SENDER_NESTED);
	run.reporter.start = 2;
	assert_int_equal(sender_relation(&sender, &run), SENDER_UNKNOWN);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char *argv[])
{
	if (argc > 1 && streq(argv[1], "hook"))
		return print_sender(STDOUT_FILENO);
	if (argc > 1 && streq(argv[1], "orphan"))
		return print_sender_of_orphan();
	self = realpath("/proc/self/exe", NULL);
	const struct CMUnitTest tests[] = {
		TEST(a_hook_speaks_for_the_agent_that_ran_it),
		TEST(a_shell_that_runs_the_hook_is_passed_over),
		TEST(what_runs_in_between_is_the_sender),
		TEST(an_orphan_speaks_for_nobody),
		TEST(a_sender_is_compared_with_the_processes_of_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
