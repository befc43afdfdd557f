/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes that we did not start: their identity, and whether they live.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/clock.h"
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
	/* The same pid, but another process: it must not get the signal. */
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

/* It is known before the processor has come to it. */
static void a_killed_process_is_ending_at_once(void **state UNUSED)
{
	struct process_id id;
	for (int i = 0; i < 20; i++) {
		pid_t pid = sleeper();
		assert_int_equal(process_identify(pid, &id, NULL), 0);
		assert_false(process_is_ending(&id));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_true(process_is_ending(&id));
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_true(process_is_ending(&id));
	}
}

static void nobody_is_no_process(void **state UNUSED)
{
	const struct process_id none = { 0 };
	struct process_id id;
	assert_false(process_alive(&none));
	assert_true(process_is_ending(&none));
	assert_false(process_is_zombie(&none));
	assert_int_equal(process_signal(&none, SIGKILL, NULL), PROCESS_GONE);
	assert_int_equal(process_identify(-1, &id, NULL), PROCESS_GONE);
}

static void a_tree_and_an_environment_find_the_descendants(void **state UNUSED)
{
	/* A name that confuses a simple reader of /proc/PID/stat. */
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
	pid_t children[2] = { 0 };
	assert_int_equal(process_children(root.pid, children, 2), 1);
	assert_int_equal(children[0], tree[tree[0].pid == root.pid].pid);
	assert_int_equal(process_children(children[0], children, 2), 0);
	for (size_t i = 0; i < marked_count; i++)
		(void)process_signal(&marked[i], SIGKILL, NULL);
	child_abandon(&child);
	free(tree);
	free(marked);
}

/* A process that cannot be examined is not "gone": that answer would end something, or start it
 * twice. */
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

/* The kernel marks a directory that was removed, and another one may be called like that. */
static void a_directory_may_be_called_deleted(void **state UNUSED)
{
	char root[] = "/tmp/agentdeck-process-XXXXXX";
	assert_non_null(mkdtemp(root));
	cleanup_free char *path = path_join(root, "x (deleted)");
	cleanup_free char *before = getcwd(NULL, 0), *found = NULL, *gone = NULL;
	assert_return_code(mkdir(path, 0700), 0);
	assert_return_code(chdir(path), 0);
	assert_int_equal(process_directory(getpid(), &found, NULL), 0);
	assert_string_equal(found, path);
	assert_return_code(rmdir(path), 0);
	assert_int_equal(process_directory(getpid(), &gone, NULL), PROCESS_GONE);
	assert_return_code(chdir(before), 0);
	assert_return_code(rmdir(root), 0);
}

static void ancestors_are_told_nearest_first(void **state UNUSED)
{
	struct process_id few[1], all[64], mother;
	pid_t grandmother;
	assert_int_equal(process_identify(getppid(), &mother, NULL), 0);
	assert_int_equal(process_ancestors(getpid(), few, ARRAY_SIZE(few)), 1);
	assert_true(process_same(&few[0], &mother));
	const size_t count = process_ancestors(getpid(), all, ARRAY_SIZE(all));
	assert_true(count >= 1 && process_same(&all[0], &mother));
	if (count > 1) {
		assert_int_equal(process_parent(mother.pid, &grandmother, NULL), 0);
		assert_int_equal(all[1].pid, grandmother);
	}
	assert_int_equal(process_ancestors(INT32_MAX, all, ARRAY_SIZE(all)), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_may_be_called_deleted),
		TEST(a_process_is_known_by_pid_and_start),
		TEST(a_killed_process_is_ending_at_once),
		TEST(nobody_is_no_process),
		TEST(a_tree_and_an_environment_find_the_descendants),
		TEST(who_cannot_be_looked_at_is_not_dead),
		TEST(a_boot_id_is_compared),
		TEST(a_boot_and_an_argv_have_a_text),
		TEST(ancestors_are_told_nearest_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
