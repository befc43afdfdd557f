/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is used, and what the kernel killed: its files and its log, read from copies of them.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "base/procusage.h"
#include "driver/unit-cgroup.h"
#include "engine/oom.h"
#include "engine/usage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* A directory with files as a control group has them. */

static int set_up(void **state)
{
	char path[] = "/tmp/test-usage-XXXXXX";
	assert_non_null(mkdtemp(path));
	*state = xstrdup(path);
	return 0;
}

static int tear_down(void **state)
{
	assert_int_equal(fs_remove_tree(AT_FDCWD, *state, NULL), 0);
	free(*state);
	return 0;
}

static void put(const char *directory, const char *name, const char *text)
{
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

static struct unit_usage read_from(const char *directory)
{
	struct unit_usage usage;
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	unit_usage_at(fd, &usage);
	return usage;
}

static void every_file_of_a_group_is_read(void **state)
{
	put(*state, "memory.current", "123456789\n");
	put(*state, "memory.peak", "223456789\n");
	put(*state, "memory.swap.current", "4096\n");
	put(*state, "memory.high", "max\n");
	put(*state, "memory.max", "4294967296\n");
	put(*state, "cpu.stat", "usage_usec 1234567\nuser_usec 1\nsystem_usec 2\n");
	put(*state, "pids.current", "17\n");
	put(*state, "pids.max", "4915\n");
	put(*state, "memory.events", "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n");
	put(*state, "cpu.pressure", "some avg10=1.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=9.00 total=0\n");
	put(*state, "memory.pressure", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n");
	put(*state, "io.pressure", "some avg10=0.07 avg60=0.00 avg300=0.00 total=1\n");
	struct unit_usage usage = read_from(*state);
	assert_int_equal(usage.memory, 123456789);
	assert_int_equal(usage.memory_peak, 223456789);
	assert_int_equal(usage.swap, 4096);
	assert_true(usage.memory_high == LIMIT_INFINITY);
	assert_true(usage.memory_max == INT64_C(4) << 30);
	assert_int_equal(usage.cpu_us, 1234567);
	assert_int_equal(usage.tasks, 17);
	assert_int_equal(usage.tasks_max, 4915);
	assert_int_equal(usage.oom_kills, 4);
	assert_int_equal(usage.cpu_pressure, 125);
	assert_int_equal(usage.memory_pressure, 10000);
	assert_int_equal(usage.io_pressure, 7);
}

static void what_is_not_there_or_makes_no_sense_is_unknown(void **state)
{
	put(*state, "memory.current", "");
	put(*state, "memory.max", "12 apples\n");
	put(*state, "cpu.stat", "usage_usec:5\nusage 6\n");
	put(*state, "memory.events", "oom_killed 5\n");
	put(*state, "cpu.pressure", "some avg10=1.2 avg60=0\n");
	put(*state, "memory.pressure", "full avg10=1.20\n");
	struct unit_usage usage = read_from(*state);
	const int64_t all[] = { usage.memory, usage.memory_peak, usage.swap, usage.memory_high,
				usage.memory_max, usage.cpu_us, usage.tasks, usage.tasks_max,
				usage.oom_kills, usage.cpu_pressure, usage.memory_pressure,
				usage.io_pressure };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] != -1)
			fail_msg("value %zu is %lld", i, (long long)all[i]);
}

/* The kernel's log: a record for each read. */

#define RECORD(memcg, task) \
	"3,1051,128045678,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=user.slice," \
	"mems_allowed=0,oom_memcg=/user.slice,task_memcg=" memcg ",task=" task ",uid=1000\n SUBSYSTEM=x\n"
#define OURS "/user.slice/a-1.scope"

static int ask(const char *const *records, pid_t pid, char **ret_name, pid_t *ret_pid)
{
	int log[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, log), 0);
	for (; *records; records++)
		assert_int_equal(write(log[1], *records, strlen(*records)), strlen(*records));
	int r = unit_oom_last_at(log[0], OURS, pid, ret_name, ret_pid);
	(void)close(log[0]);
	(void)close(log[1]);
	return r;
}

static void the_log_names_whom_it_killed_last_in_this_group(void **state UNUSED)
{
	const char *const records[] = {
		RECORD(OURS, "first,pid=10"),
		RECORD(OURS, "a, b=,pid=3,pid=12"),
		RECORD("/user.slice/a-1.scope2", "other,pid=13"),
		RECORD("/user.slice/b.scope", "neighbour,pid=14"),
		"6,1,1,-;somebody writes oom-kill:,task_memcg=" OURS ",task=liar,pid=1,uid=0\n",
		NULL
	};
	cleanup_free char *name = NULL;
	pid_t pid = 0;
	assert_int_equal(ask(records, 0, &name, &pid), 0);
	assert_string_equal(name, "a, b=,pid=3");
	assert_int_equal(pid, 12);
	cleanup_free char *by_pid = NULL;
	assert_int_equal(ask(records, 10, &by_pid, &pid), 0);
	assert_string_equal(by_pid, "first");
	cleanup_free char *none = NULL;
	assert_int_equal(ask(records, 14, &none, &pid), UNIT_ABSENT);
	assert_null(none);
}

static void the_log_of_the_host_names_a_containers_group_in_full(void **state UNUSED)
{
	const char *const records[] = { RECORD("/machine.slice/box" OURS "/below", "node,pid=7"), NULL };
	cleanup_free char *name = NULL;
	pid_t pid = 0;
	assert_int_equal(ask(records, 0, &name, &pid), 0);
	assert_string_equal(name, "node");
}

static void a_log_without_a_kill_names_nobody(void **state UNUSED)
{
	const char *const records[] = { "6,1,1,-;Linux version 6\n", RECORD(OURS, "x"),
					RECORD(OURS, "x,pid=no"), NULL };
	char *name = NULL;
	pid_t pid = 4711;
	assert_int_equal(ask(records, 0, &name, &pid), UNIT_ABSENT);
	assert_null(name);
	assert_int_equal(pid, 4711);
}

/* Was it the agent? */

static void a_count_that_was_known_for_long_did_not_end_the_agent(void **state UNUSED)
{
	const int64_t now = 1000000;
	assert_true(oom_is_new(1, 0, 0, now));
	assert_true(oom_is_new(3, 2, now - 5, now));
	/* A supervisor was quicker than the pane. */
	assert_true(oom_is_new(1, 1, now - 50, now));
	assert_false(oom_is_new(1, 1, now - 60000, now));
	assert_false(oom_is_new(0, 0, now - 50, now));
}

static void kills_are_told_in_words(void **state UNUSED)
{
	assert_null(oom_text(-1));
	assert_null(oom_text(0));
	cleanup_free char *one = oom_text(1), *two = oom_text(2);
	assert_string_equal(one, "1 process killed for lack of memory");
	assert_string_equal(two, "2 processes killed for lack of memory");
}

/* Processes one by one. */

static void a_process_tells_its_memory_and_threads(void **state UNUSED)
{
	enum { MORE = 32 << 20 };
	struct process_usage before, after;
	struct process_id self, ids[2];
	assert_int_equal(process_usage(getpid(), &before, NULL), 0);
	char *block = mmap(NULL, MORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(block != MAP_FAILED);
	memset(block, 1, MORE);
	assert_int_equal(process_usage(getpid(), &after, NULL), 0);
	assert_true(after.memory > before.memory + MORE / 2);
	assert_true(after.cpu_us >= before.cpu_us);
	assert_true(after.threads >= 1);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	ids[0] = ids[1] = self;
	assert_true(process_usage_sum(ids, 2).memory > after.memory * 3 / 2);
	assert_int_equal(munmap(block, MORE), 0);
	assert_int_equal(process_usage(INT32_MAX, &after, NULL), PROCESS_GONE);
}

static void the_greatest_comes_first(void **state UNUSED)
{
	char names[][2] = { "a", "b", "c" };
	const struct store_row rows[] = { { .title = names[0] }, { .title = names[1] }, { .title = names[2] } };
	struct usage items[] = {
		{ .row = &rows[2], .now = { .memory = 5, .tasks = 2 }, .cpu = 100 },
		{ .row = &rows[0], .now = { .memory = 9, .tasks = 2 }, .cpu = -1 },
		{ .row = &rows[1], .now = { .memory = 5, .tasks = 7 }, .cpu = 900 },
	};
	static const char *const orders[][2] = {
		{ "memory", "abc" }, { "cpu", "bca" }, { "tasks", "bac" }, { "title", "abc" },
	};
	struct usage_list list = { .items = items, .count = ARRAY_SIZE(items) };
	enum usage_order order;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		assert_true(usage_order_parse(orders[i][0], &order));
		usage_sort(&list, order);
		for (size_t j = 0; j < list.count; j++)
			if (list.items[j].row->title[0] != orders[i][1][j])
				fail_msg("by %s %zu is %s", orders[i][0], j, list.items[j].row->title);
	}
	assert_false(usage_order_parse("size", &order));
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(every_file_of_a_group_is_read),
		IN_DIRECTORY(what_is_not_there_or_makes_no_sense_is_unknown),
		cmocka_unit_test(the_log_names_whom_it_killed_last_in_this_group),
		cmocka_unit_test(the_log_of_the_host_names_a_containers_group_in_full),
		cmocka_unit_test(a_log_without_a_kill_names_nobody),
		cmocka_unit_test(a_count_that_was_known_for_long_did_not_end_the_agent),
		cmocka_unit_test(kills_are_told_in_words),
		cmocka_unit_test(a_process_tells_its_memory_and_threads),
		cmocka_unit_test(the_greatest_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
