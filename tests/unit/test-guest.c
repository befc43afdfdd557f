/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two capsules in one place: the second is a child of the first, for the agent of another session.
 */
#include "unit/capsule-fixture.h"

/* A second capsule in the same place, as a child of the first.  Its directory is below ours. */
static struct capsule *guest(struct capsule *host, bool ends_with_it)
{
	cleanup_free char *directory = path_join(scratch, "room");
	const struct capsule_guest wish = { directory, "WHOSE=guest", ends_with_it };
	struct process_id process = { 0 };
	struct capsule *capsule = NULL;
	struct error err = { 0 };
	(void)mkdirat(here, "room", 0700);
	put("room/token", TOKEN "\n");
	if (capsule_add_guest(host, &wish, soon(), &process, &err) != 0 ||
	    capsule_await(directory, soon(), &capsule, &err) < 0)
		fail_msg("%s", or_empty(err.message));
	const struct process_id listener = capsule_process(capsule);
	assert_true(process_same(&process, &listener));
	return capsule;
}

static void a_guest_is_a_capsule_of_its_own_and_starts_once(void **state UNUSED)
{
	cleanup_capsule struct capsule *host = connected();
	const struct process_id first = started(host, 1, "exec sleep 100");
	cleanup_capsule struct capsule *one = guest(host, false), *same = guest(host, false);
	const struct process_id process = capsule_process(one), again = capsule_process(same);
	pid_t parent = 0;
	cleanup_free char *whose = NULL;
	assert_true(process_same(&process, &again));
	assert_int_equal(process_parent(process.pid, &parent, NULL), 0);
	assert_int_equal(parent, capsule_pid);
	assert_int_equal(process_variable(process.pid, "WHOSE", &whose, NULL), 0);
	assert_string_equal(whose, "guest");
	const struct process_id second = started(one, 1, "exec sleep 100");
	assert_true(process_alive(&first) && process_alive(&second));
	assert_false(process_same(&first, &second));
}

static void a_stop_ends_its_own_agent_only_and_the_last_guest_ends_all(void **state UNUSED)
{
	cleanup_capsule struct capsule *host = connected();
	const struct process_id first = started(host, 1,
						"(trap '' HUP TERM; sleep 100) & sleep 100");
	cleanup_capsule struct capsule *one = guest(host, false);
	const struct process_id second = started(one, 1, "exec sleep 100");
	assert_int_equal(capsule_stop(host, 100, NULL), CAPSULE_STAYS);
	assert_false(process_alive(&first));
	assert_true(process_alive(&second));
	cleanup_capsule struct capsule *later = connected();
	assert_int_equal(status_of(later).phase, CAPSULE_ENDED);
	/* Its session comes back into the same container, and stops again. */
	const struct process_id third = started(later, 2, "exec sleep 100");
	assert_int_equal(capsule_stop(later, 1000, NULL), CAPSULE_STAYS);
	assert_false(process_alive(&third));
	assert_int_equal(capsule_stop(one, 1000, NULL), 0);
	assert_false(process_alive(&second));
	(void)capsule_ended();
}

static void the_end_of_a_guest_ends_nothing_else(void **state UNUSED)
{
	cleanup_capsule struct capsule *host = connected();
	const struct process_id first = started(host, 1, "exec sleep 100");
	cleanup_capsule struct capsule *one = guest(host, false);
	(void)started(one, 1, "exec sleep 100");
	assert_int_equal(capsule_stop(one, 1000, NULL), 0);
	assert_true(process_alive(&first));
	assert_int_equal(status_of(host).phase, CAPSULE_RUNNING);
	/* It stays while the guest's process is about to end, and then it ends, too. */
	const int stopped = capsule_stop(host, 1000, NULL);
	assert_true(stopped == 0 || stopped == CAPSULE_STAYS);
	assert_false(process_alive(&first));
	(void)capsule_ended();
}

static void a_guest_that_was_killed_leaves_no_agent(void **state UNUSED)
{
	cleanup_capsule struct capsule *host = connected();
	const struct process_id first = started(host, 1, "exec sleep 100");
	cleanup_capsule struct capsule *one = guest(host, false);
	const struct process_id process = capsule_process(one);
	const struct process_id second = started(
		one, 1, "trap '' HUP; touch up; while :; do sleep 1; done");
	UNTIL(exists("up"));
	assert_int_equal(kill(process.pid, SIGKILL), 0);
	UNTIL(!process_alive(&second));
	assert_true(process_alive(&first));
	cleanup_capsule struct capsule *next = guest(host, false);
	assert_int_equal(status_of(next).phase, CAPSULE_EMPTY);
}

static void a_capsule_that_was_brought_up_for_a_guest_ends_with_it(void **state UNUSED)
{
	struct capsule *host = connected();
	cleanup_capsule struct capsule *one = guest(host, true);
	const struct process_id process = capsule_process(one);
	capsule_close(host);
	(void)started(one, 1, "exec sleep 100");
	assert_int_equal(kill(process.pid, SIGKILL), 0);
	(void)capsule_ended();
}

/* The engine stops the container: each agent ends in order, and its record says why. */
static void a_stop_of_the_container_ends_guests_in_order(void **state UNUSED)
{
	struct capsule_exit end = { 0 };
	cleanup_free char *room = path_join(scratch, "room");
	cleanup_capsule struct capsule *host = connected();
	(void)started(host, 1, "exec sleep 100");
	cleanup_capsule struct capsule *one = guest(host, false);
	(void)started(
		one, 1,
		"trap '' HUP; trap 'sleep 2; exit 3' TERM; touch up; while :; do sleep 0.1; done");
	UNTIL(exists("up"));
	assert_int_equal(kill(capsule_pid, SIGTERM), 0);
	(void)capsule_ended();
	assert_int_equal(capsule_read_exit(room, RUN, &end, NULL), 0);
	assert_int_equal(end.code, 3);
	assert_true(end.by_stop);
}

static void a_guest_without_its_directory_is_refused(void **state UNUSED)
{
	cleanup_capsule struct capsule *host = connected();
	cleanup_error struct error err = { 0 };
	struct process_id process = { 0 };
	const struct capsule_guest wish = { "/no/such/room", "WHOSE=guest", false };
	assert_int_equal(capsule_add_guest(host, &wish, soon(), &process, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_int_equal(process.pid, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up_capsule, tear_down_capsule)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_guest_is_a_capsule_of_its_own_and_starts_once),
		CASE(a_stop_ends_its_own_agent_only_and_the_last_guest_ends_all),
		CASE(the_end_of_a_guest_ends_nothing_else),
		CASE(a_guest_that_was_killed_leaves_no_agent),
		CASE(a_capsule_that_was_brought_up_for_a_guest_ends_with_it),
		CASE(a_stop_of_the_container_ends_guests_in_order),
		CASE(a_guest_without_its_directory_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
