/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * src/driver/cgroup/cgroup.h: copies of the kernel's files and of its log, and our own control
 * group.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "driver/cgroup/cgroup.h"
#include "model/session/instance.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

/* A directory with the files of a control group. */

static int set_up(void **state)
{
	char path[] = "/tmp/test-cgroup-XXXXXX";
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

static struct cgroup_usage read_from(const char *directory)
{
	struct cgroup_usage usage;
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	cgroup_usage_at(fd, &usage);
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
	put(*state, "cpu.pressure",
	    "some avg10=1.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=9.00 total=0\n");
	put(*state, "memory.pressure", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n");
	put(*state, "io.pressure", "some avg10=0.07 avg60=0.00 avg300=0.00 total=1\n");
	struct cgroup_usage usage = read_from(*state);
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
	struct cgroup_usage usage = read_from(*state);
	const int64_t all[] = { usage.memory,       usage.memory_peak,     usage.swap,
				usage.memory_high,  usage.memory_max,      usage.cpu_us,
				usage.tasks,        usage.tasks_max,       usage.oom_kills,
				usage.cpu_pressure, usage.memory_pressure, usage.io_pressure };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] != -1)
			fail_msg("value %zu is %lld", i, (long long)all[i]);
}

/* The kernel's log: one record for each read. */

#define RECORD(memcg, task)                                                                          \
	"3,1051,128045678,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=user.slice," \
	"mems_allowed=0,oom_memcg=/user.slice,task_memcg=" memcg ",task=" task                       \
	",uid=1000\n SUBSYSTEM=x\n"
#define OURS "/user.slice/a-1.scope"

static int ask(const char *const *records, pid_t pid, char **ret_name, pid_t *ret_pid)
{
	int log[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, log),
			 0);
	for (; *records; records++)
		assert_int_equal(write(log[1], *records, strlen(*records)), strlen(*records));
	int r = cgroup_oom_last_at(log[0], OURS, pid, ret_name, ret_pid);
	(void)close(log[0]);
	(void)close(log[1]);
	return r;
}

static void the_log_names_whom_it_killed_last_in_this_group(void **state UNUSED)
{
	const char *const records[] = { RECORD(OURS, "first,pid=10"),
					RECORD(OURS, "a, b=,pid=3,pid=12"),
					RECORD("/user.slice/a-1.scope2", "other,pid=13"),
					RECORD("/user.slice/b.scope", "neighbour,pid=14"),
					"6,1,1,-;somebody writes oom-kill:,task_memcg=" OURS
					",task=liar,pid=1,uid=0\n",
					NULL };
	cleanup_free char *name = NULL;
	pid_t pid = 0;
	assert_int_equal(ask(records, 0, &name, &pid), 0);
	assert_string_equal(name, "a, b=,pid=3");
	assert_int_equal(pid, 12);
	cleanup_free char *by_pid = NULL;
	assert_int_equal(ask(records, 10, &by_pid, &pid), 0);
	assert_string_equal(by_pid, "first");
	cleanup_free char *none = NULL;
	assert_int_equal(ask(records, 14, &none, &pid), CGROUP_ABSENT);
	assert_null(none);
}

static void the_log_of_the_host_names_a_containers_group_in_full(void **state UNUSED)
{
	const char *const records[] = { RECORD("/machine.slice/box" OURS "/below", "node,pid=7"),
					NULL };
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
	assert_int_equal(ask(records, 0, &name, &pid), CGROUP_ABSENT);
	assert_null(name);
	assert_int_equal(pid, 4711);
}

/* Real control groups, and missing ones. */

static void the_processes_of_our_own_group_include_us(void **state UNUSED)
{
	cleanup_free struct process_id *processes = NULL;
	cleanup_free char *group = NULL;
	struct process_id self;
	size_t count = 0;
	bool found = false;

	if (process_cgroup(getpid(), &group, NULL) != 0 ||
	    cgroup_processes(group, &processes, &count, NULL) == CGROUP_ABSENT) {
		print_message("no unified control groups here\n");
		skip();
	}
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	for (size_t i = 0; i < count; i++)
		found |= processes[i].pid == self.pid && processes[i].start == self.start;
	assert_true(found);
}

static void a_group_that_is_not_there_is_absent(void **state UNUSED)
{
	const char *const groups[] = { "",           "x",           "/no-such.slice/no-such.scope",
				       "/../cgroup", "/../unified", "/../cgroup/..",
				       "/.." };
	struct error err = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct process_id *processes = NULL;
		size_t count = 0;
		assert_int_equal(cgroup_processes(groups[i], &processes, &count, &err),
				 CGROUP_ABSENT);
		assert_null(processes);
		assert_int_equal(err.code, ERROR_NONE);
		assert_int_equal(cgroup_oom_kills(groups[i]), -1);
		struct cgroup_usage usage;
		assert_int_equal(cgroup_usage(groups[i], &usage), CGROUP_ABSENT);
		assert_int_equal(cgroup_oom_open(groups[i], &err), -1);
		assert_int_equal(err.code, ERROR_UNAVAILABLE);
		error_clear(&err);
	}
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
		cmocka_unit_test(the_processes_of_our_own_group_include_us),
		cmocka_unit_test(a_group_that_is_not_there_is_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
