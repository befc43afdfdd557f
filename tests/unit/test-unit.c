/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user manager on its private socket, as systemd has one, and control groups.
 */
#include "unit/unit-fixture.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static int set_up_direct(void **state)
{
	char *why = NULL;
	(void)set_up(state);
	struct fixture *f = *state;
	start_fake(f, "direct");
	assert_int_equal(unit_bus_open(f->directory, &f->bus, &why, &f->err), 0);
	return 0;
}

/* Finding the manager. */

static void the_private_socket_is_found_and_asked(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(unit_bus_version(f->bus), "252.0-fake");
	assert_int_equal(count_calls(f, "Subscribe"), 0);
}

/* As unit_bus_open(), with this address instead of the environment's (NULL: none). */
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

static void a_scope_gets_its_pid_and_its_properties_and_its_slice_the_limits(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "good.scope"), 0);
	cleanup_free char *call = last_call(f);
	const char *const parts[] = {
		"StartTransientUnit good.scope fail ",
		" Description=a scope ",
		" Slice=agentdeck-0123abcd.slice ",
		" PIDs=4711 ",
		" CollectMode=inactive-or-failed ",
		" SendSIGHUP=1 ",
		" TimeoutStopUSec=5000000 ",
		" ManagedOOMPreference=avoid ",
		" OOMPolicy=continue",
		/* What the agent starts in a scope of its own has the limits as well, and the end
		 * of all is the end of the slice. */
		" TasksMax=18446744073709551615 ",
		" +agentdeck-0123abcd.slice Description=a scope StopWhenUnneeded=1 ",
		" MemoryHigh=1000 MemoryMax=2000 TasksMax=30 CPUWeight=40",
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(call, parts[i]))
			fail_msg("\"%s\" is not in \"%s\"", parts[i], call);
}

static int start_without_limits(struct fixture *f)
{
	const struct unit_scope scope = { .name = "good.scope", .slice = "a.slice", .pid = 1 };
	return unit_start_scope(f->bus, &scope, clock_ms() + PLENTY_MS, &f->err);
}

static void limits_that_are_not_set_are_not_sent(void **state)
{
	struct fixture *f = *state;
	const struct limits limits = { .tasks_max = 7 };
	const struct unit_scope scope = { .name = "good.scope",
					  .slice = "agentdeck-0123abcd.slice",
					  .pid = 1,
					  .limits = limits };
	assert_int_equal(unit_start_scope(f->bus, &scope, clock_ms() + PLENTY_MS, &f->err), 0);
	cleanup_free char *call = last_call(f);
	assert_non_null(strstr(call, " TasksMax=7"));
	assert_int_equal(start_without_limits(f), 0);
	cleanup_free char *second = last_call(f);
	assert_null(strstr(second, "TasksMax"));
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
	/* It stays so, whatever is asked. */
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

static void who_waits_for_the_end_of_a_unit_hears_of_it(void **state)
{
	struct fixture *f = *state;
	const int64_t deadline = clock_ms() + PLENTY_MS;
	assert_int_equal(unit_wait_gone(f->bus, "leaving.scope", deadline, &f->err), 0);
	assert_int_equal(unit_wait_gone(f->bus, "absent.scope", deadline, &f->err), 0);
	assert_true(clock_ms() < deadline);
	assert_int_equal(unit_wait_gone(f->bus, "taken.scope", clock_ms() + 20, &f->err),
			 UNIT_TAKEN);
	assert_int_equal(f->err.code, ERROR_NONE);
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
}

static void the_invocation_of_a_unit_is_told(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *invocation = NULL;
	assert_int_equal(unit_get_invocation(f->bus, "absent.scope", &invocation, &f->err),
			 UNIT_ABSENT);
	assert_null(invocation);
	assert_int_equal(start(f, "a-b_c.scope"), 0);
	assert_int_equal(unit_get_invocation(f->bus, "a-b_c.scope", &invocation, &f->err), 0);
	assert_string_equal(invocation, "0123456789abcdeffedcba9876543210");
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
	assert_int_equal(unit_stop(f->bus, name, clock_ms() + PLENTY_MS, &f->err), UNIT_ABSENT);
	assert_int_equal(f->err.code, ERROR_NONE);
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

static void limits_of_a_running_scope_are_all_set(void **state)
{
	struct fixture *f = *state;
	const struct limits some = { .memory_max = 64 << 20, .cpu_weight = 50 };
	const struct limits endless = { .memory_high = LIMIT_INFINITY,
					.memory_max = LIMIT_INFINITY,
					.tasks_max = LIMIT_INFINITY,
					.cpu_weight = LIMIT_INFINITY };
	assert_int_equal(start(f, "good.scope"), 0);
	assert_int_equal(unit_set_limits(f->bus, "good.scope", &some, &f->err), 0);
	cleanup_free char *call = last_call(f);
	/* A limit that is not given gets the value that a new scope would have. */
	assert_string_equal(call, "SetUnitProperties good.scope 1 MemoryHigh=18446744073709551615 "
				  "MemoryMax=67108864 TasksMax=4711 CPUWeight=50");
	assert_int_equal(unit_set_limits(f->bus, "good.scope", &endless, &f->err), 0);
	cleanup_free char *second = last_call(f);
	assert_string_equal(second,
			    "SetUnitProperties good.scope 1 MemoryHigh=18446744073709551615 "
			    "MemoryMax=18446744073709551615 TasksMax=18446744073709551615 "
			    "CPUWeight=18446744073709551615");
}

static void a_slice_without_a_limit_has_none(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(start(f, "good.slice"), 0);
	assert_int_equal(unit_set_limits(f->bus, "good.slice", &(struct limits){ 0 }, &f->err), 0);
	cleanup_free char *call = last_call(f);
	assert_non_null(strstr(call, " TasksMax=18446744073709551615 "));
}

static void limits_of_what_does_not_run_are_not_set(void **state)
{
	struct fixture *f = *state;
	const struct limits limits = { .tasks_max = 30 };
	assert_int_equal(unit_set_limits(f->bus, "absent.scope", &limits, &f->err), UNIT_ABSENT);
	assert_int_equal(unit_set_limits(f->bus, "stuck.scope", &limits, &f->err), UNIT_ABSENT);
	assert_int_equal(f->err.code, ERROR_NONE);
	assert_int_equal(count_calls(f, "SetUnitProperties"), 0);
	assert_int_equal(start(f, "stubborn.scope"), 0);
	assert_error(f, unit_set_limits(f->bus, "stubborn.scope", &limits, &f->err), ERROR_SYSTEM,
		     "not today");
}

static void no_limit_by_demand_is_sent_as_that(void **state)
{
	struct fixture *f = *state;
	const struct limits limits = { .memory_max = LIMIT_INFINITY, .tasks_max = LIMIT_INFINITY };
	const struct unit_scope scope = { .name = "good.scope",
					  .slice = "agentdeck-0123abcd.slice",
					  .pid = 4711,
					  .limits = limits };
	assert_int_equal(unit_start_scope(f->bus, &scope, clock_ms() + PLENTY_MS, &f->err), 0);
	cleanup_free char *call = last_call(f);
	assert_non_null(strstr(call, " MemoryMax=18446744073709551615 "));
	assert_non_null(strstr(call, " TasksMax=18446744073709551615 "));
	assert_null(strstr(call, "MemoryHigh"));
}

#define DIRECT(test) cmocka_unit_test_setup_teardown(test, set_up_direct, tear_down)
#define PLAIN(test)  cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		DIRECT(the_private_socket_is_found_and_asked),
		DIRECT(a_scope_gets_its_pid_and_its_properties_and_its_slice_the_limits),
		DIRECT(limits_that_are_not_set_are_not_sent),
		DIRECT(no_limit_by_demand_is_sent_as_that),
		DIRECT(limits_of_a_running_scope_are_all_set),
		DIRECT(a_slice_without_a_limit_has_none),
		DIRECT(limits_of_what_does_not_run_are_not_set),
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
		DIRECT(who_waits_for_the_end_of_a_unit_hears_of_it),
		DIRECT(the_state_of_a_unit_is_told),
		DIRECT(the_invocation_of_a_unit_is_told),
		DIRECT(the_result_of_a_failed_unit_is_told),
		DIRECT(a_unit_that_is_not_there_is_absent),
		DIRECT(stopping_waits_for_its_own_job),
		PLAIN(without_a_manager_the_reason_names_the_directory),
		PLAIN(a_socket_of_a_dead_manager_is_no_manager),
		PLAIN(a_peer_that_hangs_up_is_no_manager),
		PLAIN(a_stopped_manager_is_a_timeout_not_a_hang),
		PLAIN(a_full_queue_of_a_stopped_manager_is_a_timeout_too),
	};
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
