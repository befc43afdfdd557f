/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user manager's side is played by tests/helper/fake-systemd1: on a socket of its own as
 * systemd's private one, and on a message bus, for which this program runs itself below
 * dbus-run-session(1).
 */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define BELOW_BUS "AGENTDECK_TEST_BELOW_BUS"

/* Long, for what must happen; short, for what never does. */
enum { PLENTY_MS = 20000, SOON_MS = 50 };

struct fixture {
	char *directory; /* the "user_runtime", with every character that an address must escape */
	char *log;
	struct child manager;
	struct unit_bus *bus;
	struct error err;
};

static void start_fake(struct fixture *f, const char *mode)
{
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	assert_non_null(self);
	*strrchr(self, '/') = '\0';
	cleanup_free char *program = path_join(self, "../helper/fake-systemd1");
	cleanup_free char *socket = path_join(f->directory, "systemd/private");
	const char *const direct[] = { program, mode, socket, f->log, NULL };
	const char *const bus[] = { program, mode, f->log, NULL };
	const struct child_request request = { .argv = streq(mode, "direct") ? direct : bus,
					       .gate = true };
	char line[16];

	assert_int_equal(child_start(&request, &f->manager, NULL), 0);
	assert_int_equal(read(f->manager.output, line, sizeof(line)), strlen("ready\n"));
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char root[] = "/tmp/test-unit-XXXXXX";
	assert_non_null(mkdtemp(root));
	f->directory = path_join(root, "a b,c;d%e:f=");
	f->log = path_join(f->directory, "log");
	cleanup_free char *systemd = path_join(f->directory, "systemd");
	assert_int_equal(mkdir(f->directory, 0700), 0);
	assert_int_equal(mkdir(systemd, 0700), 0);
	*state = f;
	return 0;
}

static int set_up_direct(void **state)
{
	char *why = NULL;
	(void)set_up(state);
	struct fixture *f = *state;
	start_fake(f, "direct");
	assert_int_equal(unit_bus_open(f->directory, &f->bus, &why, &f->err), 0);
	return 0;
}

static int set_up_bus(void **state)
{
	char *why = NULL;
	if (!getenv(BELOW_BUS))
		return 0;
	(void)set_up(state);
	struct fixture *f = *state;
	start_fake(f, "bus");
	assert_int_equal(unit_bus_open(f->directory, &f->bus, &why, &f->err), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	if (!f)
		return 0;
	unit_bus_close(f->bus);
	child_abandon(&f->manager);
	error_clear(&f->err);
	*strrchr(f->directory, '/') = '\0';
	assert_int_equal(fs_remove_tree(AT_FDCWD, f->directory, NULL), 0);
	free(f->directory);
	free(f->log);
	free(f);
	return 0;
}

static int start_with(struct fixture *f, const char *name, int64_t deadline_ms)
{
	static const struct limits limits = { .memory_high = 1000, .memory_max = 2000,
					      .tasks_max = 30, .cpu_weight = 40 };
	const struct unit_scope scope = { .name = name, .slice = "agentdeck.slice",
					  .description = "a scope", .pid = 4711,
					  .limits = &limits, .stop_timeout_s = 5 };
	return unit_start_scope(f->bus, &scope, deadline_ms, &f->err);
}

static int start(struct fixture *f, const char *name)
{
	return start_with(f, name, clock_ms() + PLENTY_MS);
}

static void assert_error(struct fixture *f, int r, enum error_code code, const char *part)
{
	assert_int_equal(r, -1);
	assert_string_equal(error_code_name(f->err.code), error_code_name(code));
	if (!strstr(f->err.message, part))
		fail_msg("\"%s\" is not in \"%s\"", part, f->err.message);
	error_clear(&f->err);
}

/* How many of the calls that the fake has seen start like this. */
static unsigned count_calls(const struct fixture *f, const char *prefix)
{
	cleanup_strbuf struct strbuf log = { 0 };
	unsigned count = 0;
	assert_int_equal(fs_read(AT_FDCWD, f->log, 1 << 20, &log, NULL), 0);
	char *rest = log.data;
	for (const char *line; (line = strsep(&rest, "\n"));)
		count += starts_with(line, prefix);
	return count;
}

static char *last_call(const struct fixture *f)
{
	cleanup_strbuf struct strbuf log = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, f->log, 1 << 20, &log, NULL), 0);
	assert_true(log.length > 1);
	log.data[log.length - 1] = '\0';
	const char *newline = strrchr(log.data, '\n');
	return xstrdup(newline ? newline + 1 : log.data);
}

/* Finding the manager. */

static void the_private_socket_is_found_and_asked(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(unit_bus_version(f->bus), "252.0-fake");
	assert_int_equal(count_calls(f, "Subscribe"), 0);
}

/* As unit_bus_open(), with this in the place of what the environment says (NULL: nothing). */
static int open_with_address(struct fixture *f, const char *directory, const char *address,
			     char **ret_why)
{
	cleanup_free char *ours = xstrdup_or_null(getenv("DBUS_SESSION_BUS_ADDRESS"));
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (address)
		(void)setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
	int r = unit_bus_open(directory, &f->bus, ret_why, &f->err);
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (ours)
		(void)setenv("DBUS_SESSION_BUS_ADDRESS", ours, 1);
	return r;
}

static void without_a_manager_the_reason_names_the_directory(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *none = path_join(f->directory, "none");
	cleanup_free char *why = NULL;
	assert_int_equal(open_with_address(f, none, NULL, &why), UNIT_NO_MANAGER);
	assert_null(f->bus);
	assert_int_equal(f->err.code, ERROR_NONE);
	assert_non_null(strstr(why, none));
	assert_non_null(strstr(why, "lingering"));
}

static int bind_private(const struct fixture *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_free char *path = path_join(f->directory, "systemd/private");
	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void a_socket_of_a_dead_manager_is_no_manager(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *why = NULL;
	(void)close(bind_private(f));
	assert_int_equal(open_with_address(f, f->directory, "unix:path=/nonexistent/bus", &why),
			 UNIT_NO_MANAGER);
	assert_non_null(strstr(why, "refused"));
	assert_non_null(strstr(why, "/nonexistent/bus"));
}

static void a_peer_that_hangs_up_is_no_manager(void **state)
{
	struct fixture *f = *state;
	cleanup_close int fd = bind_private(f);
	cleanup_free char *why = NULL;
	assert_int_equal(listen(fd, 1), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(accept(fd, NULL, NULL));
		_exit(0);
	}
	assert_int_equal(open_with_address(f, f->directory, "unix:path=/nonexistent/bus", &why),
			 UNIT_NO_MANAGER);
	assert_non_null(strstr(why, "systemd/private"));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_stopped_manager_is_a_timeout_not_a_hang(void **state)
{
	struct fixture *f = *state;
	char *why = NULL;
	start_fake(f, "direct");
	assert_int_equal(kill(f->manager.pid, SIGSTOP), 0);
	int r = unit_bus_open(f->directory, &f->bus, &why, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "does not answer");
	assert_null(why);
}

static void a_full_queue_of_a_stopped_manager_is_a_timeout_too(void **state)
{
	struct fixture *f = *state;
	cleanup_close int fd = bind_private(f);
	cleanup_close int one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t length = sizeof(address);
	char *why = NULL;
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(connect(one, (const struct sockaddr *)&address, length), 0);
	int r = unit_bus_open(f->directory, &f->bus, &why, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "does not take connections");
}

/* Starting. */

static void a_scope_gets_its_pid_its_properties_and_its_limits(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "good.scope"), 0);
	cleanup_free char *call = last_call(f);
	const char *const parts[] = {
		"StartTransientUnit good.scope fail ", " Description=a scope ",
		" Slice=agentdeck.slice ", " PIDs=4711 ", " CollectMode=inactive-or-failed ",
		" SendSIGHUP=1 ", " TimeoutStopUSec=5000000 ", " MemoryHigh=1000 ",
		" MemoryMax=2000 ", " TasksMax=30 ", " CPUWeight=40 ",
		" ManagedOOMPreference=avoid ", " OOMPolicy=continue",
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(call, parts[i]))
			fail_msg("\"%s\" is not in \"%s\"", parts[i], call);
}

static void limits_that_are_not_set_are_not_sent(void **state)
{
	struct fixture *f = *state;
	const struct limits limits = { .tasks_max = 7 };
	const struct unit_scope scope = { .name = "good.scope", .slice = "agentdeck.slice",
					  .pid = 1, .limits = &limits };
	assert_int_equal(unit_start_scope(f->bus, &scope, clock_ms() + PLENTY_MS, &f->err), 0);
	cleanup_free char *call = last_call(f);
	assert_non_null(strstr(call, " TasksMax=7"));
	assert_null(strstr(call, "Memory"));
	assert_null(strstr(call, "CPUWeight"));
	assert_null(strstr(call, "TimeoutStop"));
}

static void a_job_that_ends_badly_is_an_error_with_its_result(void **state)
{
	struct fixture *f = *state;
	const char *const results[] = { "failed", "timeout", "canceled", "dependency" };
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		cleanup_free char *name = xasprintf("%s.scope", results[i]);
		cleanup_free char *quoted = xasprintf("\"%s\"", results[i]);
		int r = start(f, name);
		assert_non_null(f->err.message);
		assert_non_null(strstr(f->err.message, name));
		assert_error(f, r, ERROR_SYSTEM, quoted);
	}
}

static void a_job_that_ends_before_the_answer_is_not_missed(void **state)
{
	assert_int_equal(start(*state, "early.scope"), 0);
}

static void ends_of_other_jobs_are_not_mistaken_for_ours(void **state)
{
	assert_int_equal(start(*state, "noise.scope"), 0);
}

static void silence_is_a_timeout_and_the_connection_goes_on(void **state)
{
	struct fixture *f = *state;
	int r = start_with(f, "silent.scope", clock_ms() + SOON_MS);
	assert_error(f, r, ERROR_TIMEOUT, "silent.scope");
	r = start_with(f, "mute.scope", clock_ms() + SOON_MS);
	assert_error(f, r, ERROR_TIMEOUT, "mute.scope");
	assert_int_equal(start(f, "good.scope"), 0);
}

static void an_answer_that_comes_too_late_answers_nothing_else(void **state)
{
	struct fixture *f = *state;
	int r = start_with(f, "late.scope", clock_ms() + SOON_MS);
	assert_error(f, r, ERROR_TIMEOUT, "late.scope");
	assert_int_equal(start_with(f, "good.scope", clock_ms() + PLENTY_MS), 0);
}

static void a_deadline_that_has_passed_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start_with(f, "silent.scope", 0), ERROR_TIMEOUT, "silent.scope");
}

static void a_manager_that_vanishes_is_unavailable(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start(f, "vanish.scope"), ERROR_UNAVAILABLE, "vanish.scope");
	/* And stays so, whatever is asked. */
	struct unit_state unit = { 0 };
	assert_error(f, start(f, "good.scope"), ERROR_UNAVAILABLE, "good.scope");
	int r = unit_get_state(f->bus, "good.scope", &unit, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "good.scope");
	r = unit_stop(f->bus, "good.scope", clock_ms() + PLENTY_MS, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "good.scope");
}

static void a_manager_that_vanishes_during_the_job_is_unavailable(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start(f, "vanish-job.scope"), ERROR_UNAVAILABLE, "vanish-job.scope");
}

static void a_refusal_is_an_error_with_the_managers_words(void **state)
{
	struct fixture *f = *state;
	int r = start(f, "refused.scope");
	assert_non_null(f->err.message);
	assert_non_null(strstr(f->err.message, "refused.scope"));
	assert_error(f, r, ERROR_SYSTEM, "not today");
	assert_int_equal(count_calls(f, "StartTransientUnit"), 1);
}

static void an_unknown_property_that_is_named_is_left_out_alone(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "limitless.scope"), 0);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 2);
	cleanup_free char *call = last_call(f);
	assert_null(strstr(call, "MemoryHigh"));
	assert_non_null(strstr(call, " MemoryMax=2000 "));
	assert_non_null(strstr(call, " OOMPolicy=continue"));
}

static void what_one_call_has_learned_the_next_one_knows(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "old.scope"), 0);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 3);
	assert_int_equal(start(f, "old.scope"), 0);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 4);
	cleanup_free char *call = last_call(f);
	assert_null(strstr(call, "OOM"));
	assert_non_null(strstr(call, " CPUWeight=40"));
}

static void an_unknown_property_that_is_not_named_costs_the_recent_ones(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "vague.scope"), 0);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 2);
	cleanup_free char *call = last_call(f);
	assert_null(strstr(call, "OOM"));
	assert_non_null(strstr(call, " MemoryHigh=1000 "));
}

static void leaving_out_comes_to_an_end(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start(f, "hopeless.scope"), ERROR_SYSTEM, "something is not known");
	assert_int_equal(count_calls(f, "StartTransientUnit"), 2);
}

static void a_name_in_use_is_taken_and_its_unit_left_alone(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "taken.scope"), UNIT_TAKEN);
	assert_int_equal(f->err.code, ERROR_NONE);
	assert_int_equal(count_calls(f, "ResetFailedUnit"), 0);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 1);
}

static void a_failed_unit_makes_way(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "over.scope"), 0);
	assert_int_equal(count_calls(f, "ResetFailedUnit over.scope"), 1);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 2);
}

static void a_failed_unit_that_stays_is_taken_after_one_more_try(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "stuck.scope"), UNIT_TAKEN);
	assert_int_equal(count_calls(f, "StartTransientUnit"), 2);
}

/* Asking, killing, stopping. */

static void the_state_of_a_unit_is_told(void **state)
{
	struct fixture *f = *state;
	cleanup_unit_state struct unit_state unit = { 0 };
	assert_int_equal(start(f, "a-b_c.scope"), 0);
	assert_int_equal(unit_get_state(f->bus, "a-b_c.scope", &unit, &f->err), 0);
	assert_string_equal(unit.active, "active");
	assert_string_equal(unit.result, "success");
	assert_string_equal(unit.control_group, "/fake.slice/a-b_c.scope");
	assert_string_equal(unit.invocation_id, "0123456789abcdeffedcba9876543210");
}

static void the_result_of_a_failed_unit_is_told(void **state)
{
	struct fixture *f = *state;
	cleanup_unit_state struct unit_state unit = { 0 };
	assert_int_equal(unit_get_state(f->bus, "stuck.scope", &unit, &f->err), 0);
	assert_string_equal(unit.active, "failed");
	assert_string_equal(unit.result, "oom-kill");
}

static void a_unit_that_is_not_there_is_absent(void **state)
{
	struct fixture *f = *state;
	struct unit_state unit = { 0 };
	const char *name = "absent.scope";
	assert_int_equal(unit_get_state(f->bus, name, &unit, &f->err), UNIT_ABSENT);
	assert_null(unit.active);
	assert_int_equal(unit_kill(f->bus, name, SIGTERM, &f->err), UNIT_ABSENT);
	assert_int_equal(unit_stop(f->bus, name, clock_ms() + PLENTY_MS, &f->err), UNIT_ABSENT);
	assert_int_equal(f->err.code, ERROR_NONE);
}

static void a_signal_goes_to_all_processes_of_the_unit(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(unit_kill(f->bus, "good.scope", SIGUSR1, &f->err), 0);
	assert_int_equal(count_calls(f, "KillUnit good.scope all 10"), 1);
	int r = unit_kill(f->bus, "refused.scope", SIGUSR1, &f->err);
	assert_error(f, r, ERROR_SYSTEM, "refused.scope: not today");
}

static void stopping_waits_for_its_own_job(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(unit_stop(f->bus, "noise.scope", clock_ms() + PLENTY_MS, &f->err), 0);
	assert_int_equal(unit_stop(f->bus, "early.scope", clock_ms() + PLENTY_MS, &f->err), 0);
	int r = unit_stop(f->bus, "silent.scope", clock_ms() + SOON_MS, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "silent.scope");
	r = unit_stop(f->bus, "timeout.scope", clock_ms() + PLENTY_MS, &f->err);
	assert_error(f, r, ERROR_SYSTEM, "timeout.scope");
	r = unit_stop(f->bus, "vanish-job.scope", clock_ms() + PLENTY_MS, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "vanish-job.scope");
}

/* Control groups. */

static void the_processes_of_our_own_group_include_us(void **state UNUSED)
{
	cleanup_free struct process_id *processes = NULL;
	cleanup_free char *group = NULL;
	struct process_id self;
	size_t count = 0;
	bool found = false;

	if (process_cgroup(getpid(), &group, NULL) != 0 ||
	    unit_processes(group, &processes, &count, NULL) == UNIT_ABSENT) {
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
	const char *const groups[] = { "", "x", "/no-such.slice/no-such.scope", "/../cgroup",
				       "/../unified", "/../cgroup/..", "/.." };
	struct error err = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct process_id *processes = NULL;
		size_t count = 0;
		assert_int_equal(unit_processes(groups[i], &processes, &count, &err), UNIT_ABSENT);
		assert_null(processes);
		assert_int_equal(err.code, ERROR_NONE);
		assert_int_equal(unit_oom_kills(groups[i]), -1);
	}
}

/* On a message bus. */

static void need_bus(void)
{
	if (!getenv(BELOW_BUS)) {
		print_message("no message bus: dbus-run-session is not installed\n");
		skip();
	}
}

static void on_a_bus_the_manager_is_found_by_name(void **state)
{
	struct fixture *f = *state;
	need_bus();
	assert_string_equal(unit_bus_version(f->bus), "252.0-fake");
	assert_int_equal(count_calls(f, "Subscribe"), 1);
	assert_int_equal(start(f, "good.scope"), 0);
	assert_int_equal(start(f, "early.scope"), 0);
	assert_error(f, start(f, "failed.scope"), ERROR_SYSTEM, "failed.scope");
	assert_int_equal(unit_stop(f->bus, "good.scope", clock_ms() + PLENTY_MS, &f->err), 0);
}

static void on_a_bus_a_manager_that_vanishes_is_unavailable(void **state)
{
	struct fixture *f = *state;
	need_bus();
	assert_error(f, start(f, "vanish-job.scope"), ERROR_UNAVAILABLE, "vanish-job.scope");
	/* The bus is still there, the name is nobody's. */
	assert_error(f, start(f, "good.scope"), ERROR_UNAVAILABLE, "good.scope");
}

static void on_a_bus_an_unanswered_call_of_a_vanished_manager_is_unavailable(void **state)
{
	struct fixture *f = *state;
	need_bus();
	assert_error(f, start(f, "vanish.scope"), ERROR_UNAVAILABLE, "vanish.scope");
}

static void a_bus_without_a_manager_is_no_manager(void **state)
{
	struct fixture *f = *state;
	need_bus();
	struct unit_bus *bus = NULL;
	cleanup_free char *why = NULL;
	child_abandon(&f->manager);
	assert_int_equal(unit_bus_open(f->directory, &bus, &why, &f->err), UNIT_NO_MANAGER);
	assert_non_null(strstr(why, "org.freedesktop.systemd1"));
	assert_null(bus);
}

static void a_private_socket_goes_before_the_bus(void **state)
{
	struct fixture *f = *state;
	need_bus();
	struct fixture direct = { .directory = f->directory, .log = f->log };
	start_fake(&direct, "direct");
	unsigned before = count_calls(f, "Subscribe");
	cleanup_unit_bus struct unit_bus *bus = NULL;
	char *why = NULL;
	int r = unit_bus_open(f->directory, &bus, &why, &f->err);
	child_abandon(&direct.manager);
	assert_int_equal(r, 0);
	assert_int_equal(count_calls(f, "Subscribe"), before);
}

static void logind_is_asked_for_what_a_logout_kills(void **state)
{
	struct fixture *f = *state;
	need_bus();
	struct login_facts facts = { 0 };
	assert_int_equal(login_facts(getuid(), &facts, &f->err), 0);
	assert_true(facts.kill_user_processes);
}

static void lingering_is_asked_for_without_a_dialogue(void **state)
{
	struct fixture *f = *state;
	need_bus();
	assert_int_equal(login_enable_linger(4711, &f->err), 0);
	assert_int_equal(count_calls(f, "SetUserLinger 4711 1 0"), 1);
}

static void a_refused_lingering_comes_with_the_remedy(void **state)
{
	struct fixture *f = *state;
	need_bus();
	int r = login_enable_linger(0, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "loginctl enable-linger root");
}

static void without_logind_there_is_none(void **state)
{
	struct fixture *f = *state;
	need_bus();
	struct login_facts facts = { 0 };
	child_abandon(&f->manager);
	assert_int_equal(login_facts(getuid(), &facts, &f->err), UNIT_NO_MANAGER);
	assert_int_equal(login_enable_linger(4711, &f->err), UNIT_NO_MANAGER);
	assert_int_equal(f->err.code, ERROR_NONE);
}

static void without_a_system_bus_there_is_no_logind(void **state)
{
	struct fixture *f = *state;
	struct login_facts facts = { 0 };
	cleanup_free char *address = xstrdup_or_null(getenv("DBUS_SYSTEM_BUS_ADDRESS"));
	(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	int r = login_facts(getuid(), &facts, &f->err);
	(void)unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	if (address)
		(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	assert_int_equal(r, UNIT_NO_MANAGER);
}

/* Only comes back when there is no dbus-run-session. */
static void run_below_a_bus(char *argv[])
{
	cleanup_free char *program = NULL, *self = realpath("/proc/self/exe", NULL);
	if (!self || child_find_program("dbus-run-session", NULL, NULL, &program, NULL) != 0)
		return;
	char separator[] = "--";
	char *run[] = { program, separator, self, argv[1], NULL };
	(void)setenv(BELOW_BUS, "1", 1);
	(void)execv(program, run);
	perror(program);
	exit(1);
}

#define DIRECT(test) cmocka_unit_test_setup_teardown(test, set_up_direct, tear_down)
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define ON_BUS(test) cmocka_unit_test_setup_teardown(test, set_up_bus, tear_down)

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		DIRECT(the_private_socket_is_found_and_asked),
		DIRECT(a_scope_gets_its_pid_its_properties_and_its_limits),
		DIRECT(limits_that_are_not_set_are_not_sent),
		DIRECT(a_job_that_ends_badly_is_an_error_with_its_result),
		DIRECT(a_job_that_ends_before_the_answer_is_not_missed),
		DIRECT(ends_of_other_jobs_are_not_mistaken_for_ours),
		DIRECT(silence_is_a_timeout_and_the_connection_goes_on),
		DIRECT(an_answer_that_comes_too_late_answers_nothing_else),
		DIRECT(a_deadline_that_has_passed_is_a_timeout),
		DIRECT(a_manager_that_vanishes_is_unavailable),
		DIRECT(a_manager_that_vanishes_during_the_job_is_unavailable),
		DIRECT(a_refusal_is_an_error_with_the_managers_words),
		DIRECT(an_unknown_property_that_is_named_is_left_out_alone),
		DIRECT(what_one_call_has_learned_the_next_one_knows),
		DIRECT(an_unknown_property_that_is_not_named_costs_the_recent_ones),
		DIRECT(leaving_out_comes_to_an_end),
		DIRECT(a_name_in_use_is_taken_and_its_unit_left_alone),
		DIRECT(a_failed_unit_makes_way),
		DIRECT(a_failed_unit_that_stays_is_taken_after_one_more_try),
		DIRECT(the_state_of_a_unit_is_told),
		DIRECT(the_result_of_a_failed_unit_is_told),
		DIRECT(a_unit_that_is_not_there_is_absent),
		DIRECT(a_signal_goes_to_all_processes_of_the_unit),
		DIRECT(stopping_waits_for_its_own_job),
		ON_BUS(on_a_bus_the_manager_is_found_by_name),
		ON_BUS(on_a_bus_a_manager_that_vanishes_is_unavailable),
		ON_BUS(on_a_bus_an_unanswered_call_of_a_vanished_manager_is_unavailable),
		ON_BUS(a_bus_without_a_manager_is_no_manager),
		ON_BUS(a_private_socket_goes_before_the_bus),
		ON_BUS(logind_is_asked_for_what_a_logout_kills),
		ON_BUS(lingering_is_asked_for_without_a_dialogue),
		ON_BUS(a_refused_lingering_comes_with_the_remedy),
		ON_BUS(without_logind_there_is_none),
		PLAIN(without_a_system_bus_there_is_no_logind),
		PLAIN(without_a_manager_the_reason_names_the_directory),
		PLAIN(a_socket_of_a_dead_manager_is_no_manager),
		PLAIN(a_peer_that_hangs_up_is_no_manager),
		PLAIN(a_stopped_manager_is_a_timeout_not_a_hang),
		PLAIN(a_full_queue_of_a_stopped_manager_is_a_timeout_too),
		cmocka_unit_test(the_processes_of_our_own_group_include_us),
		cmocka_unit_test(a_group_that_is_not_there_is_absent),
	};
	if (!getenv(BELOW_BUS))
		run_below_a_bus(argv);
	const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS");
	if (getenv(BELOW_BUS) && bus)
		(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", bus, 1);
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (failed || getenv(BELOW_BUS))
		return failed;
	(void)fprintf(stderr, "the tests on a message bus were skipped: install dbus-run-session "
			      "(Debian: dbus-daemon)\n");
	return getenv("AGENTDECK_TEST_STRICT") ? 1 : 77;
}
