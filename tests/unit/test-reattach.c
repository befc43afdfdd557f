/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/macro.h"
#include "model/host/reattach.h"

enum { REATTACH_UNREACHABLE = 69 };

/* A link that was shown long ago has just ended. */
static enum reattach_action lose(struct reattach *at, int64_t now_ms)
{
	*at = (struct reattach){ .is_ours = true, .due_ms = INT64_MAX };
	return reattach_next(at, REATTACH_ENDED, REATTACH_SSH_FAILED, now_ms);
}

static void what_ends_there_is_no_broken_link(void **state UNUSED)
{
	for (int status = 0; status < REATTACH_SSH_FAILED; status++) {
		struct reattach at = { .is_ours = true };
		assert_int_equal(reattach_next(&at, REATTACH_ENDED, status, 1), REATTACH_END);
		assert_int_equal(at.status, status);
		assert_false(at.is_lost);
	}
}

static void a_broken_link_is_tried_at_once_and_then_each_second(void **state UNUSED)
{
	struct reattach at;
	assert_int_equal(lose(&at, 50000), REATTACH_TRY);
	assert_true(at.is_lost);
	assert_int_equal(at.lost_ms, 50000);
	assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 50100), REATTACH_WAIT);
	assert_int_equal(at.due_ms, 51000);
	assert_int_equal(reattach_next(&at, REATTACH_DUE, 0, 51000), REATTACH_TRY);
	/* One that took longer is followed at once. */
	assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 56000), REATTACH_TRY);
	assert_int_equal(reattach_next(&at, REATTACH_ANSWERS, 0, 56500), REATTACH_SHOW);
	assert_false(at.is_lost);
}

static void a_host_that_stays_away_is_tried_less_often(void **state UNUSED)
{
	struct reattach at;
	int64_t now = 50000, tries = 1;
	(void)lose(&at, now);
	for (const int64_t end = now + 24 * 3600 * 1000LL; now < end; tries++) {
		assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, now + 10), REATTACH_WAIT);
		now = at.due_ms;
		assert_int_equal(reattach_next(&at, REATTACH_DUE, 0, now), REATTACH_TRY);
	}
	assert_in_range(tries, 1440, 2200);
}

static void a_link_that_breaks_again_and_again_is_no_storm(void **state UNUSED)
{
	struct reattach at;
	unsigned tries = 0;
	(void)lose(&at, 50000);
	for (int64_t now = 50000; now < 110000; now += 10) {
		enum reattach_action action = at.phase == REATTACH_WAITING && now >= at.due_ms
						      ? reattach_next(&at, REATTACH_DUE, 0, now)
						      : REATTACH_WAIT;
		if (action != REATTACH_TRY && at.phase != REATTACH_TRYING)
			continue;
		if (tries++ % 2) {
			(void)reattach_next(&at, REATTACH_SILENT, 0, now + 1);
			continue;
		}
		assert_int_equal(reattach_next(&at, REATTACH_ANSWERS, 0, now), REATTACH_SHOW);
		assert_int_not_equal(reattach_next(&at, REATTACH_ENDED, REATTACH_SSH_FAILED,
						   now + 1),
				     REATTACH_END);
	}
	assert_in_range(tries, 2, 61);
}

/* A Pod reads its machine id from its volume, or there is none. */
static void a_host_that_never_knows_who_it_is_is_not_tried_for_ever(void **state UNUSED)
{
	struct reattach at;
	(void)lose(&at, 50000);
	/* It began late, and was away once more. */
	(void)reattach_next(&at, REATTACH_SILENT, 0, 200000);
	(void)reattach_next(&at, REATTACH_DUE, 0, at.due_ms);
	assert_int_not_equal(reattach_next(&at, REATTACH_UNNAMED, 0, 206000), REATTACH_END);
	(void)reattach_next(&at, REATTACH_DUE, 0, 211000);
	(void)reattach_next(&at, REATTACH_SILENT, 0, 212000);
	for (int64_t now = 220000; now < 280000; now += 5000) {
		(void)reattach_next(&at, REATTACH_DUE, 0, now);
		assert_int_not_equal(reattach_next(&at, REATTACH_UNNAMED, 0, now), REATTACH_END);
	}
	(void)reattach_next(&at, REATTACH_DUE, 0, 280000);
	assert_int_equal(reattach_next(&at, REATTACH_UNNAMED, 0, 280000), REATTACH_END);
	assert_true(at.is_lost);
	assert_int_equal(at.status, REATTACH_UNREACHABLE);
}

static void a_new_address_is_a_reason_to_look(void **state UNUSED)
{
	struct reattach at = { .is_ours = true, .due_ms = INT64_MAX };
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 50000), REATTACH_CHECK);
	assert_int_equal(reattach_next(&at, REATTACH_ANSWERS, 0, 50001), REATTACH_WAIT);
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 50002), REATTACH_WAIT);
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 60000), REATTACH_CHECK);
	assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 63000), REATTACH_CUT);
	/* 137: the kill was ours, and it is no end of the session. */
	assert_int_equal(reattach_next(&at, REATTACH_ENDED, 137, 63001), REATTACH_TRY);
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 63002), REATTACH_WAIT);
	(void)reattach_next(&at, REATTACH_SILENT, 0, 63100);
	at.due_ms = 70000;
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 65000), REATTACH_TRY);
	assert_int_equal(at.tried_ms, 65000);
}

/* It was faster than our kill. */
static void who_detaches_during_a_check_has_left(void **state UNUSED)
{
	for (int status = 0; status < REATTACH_KILLED; status++) {
		struct reattach at = { .is_ours = true, .due_ms = INT64_MAX };
		(void)reattach_next(&at, REATTACH_NETWORK, 0, 50000);
		assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 53000), REATTACH_CUT);
		assert_int_equal(reattach_next(&at, REATTACH_ENDED, status, 53001), REATTACH_END);
		assert_int_equal(at.status, status);
		assert_false(at.is_lost);
	}
}

/* ssh's 255 is also that of a program there which was killed. */
static void what_ends_there_each_time_is_not_tried_for_ever(void **state UNUSED)
{
	struct reattach at;
	int64_t now = 50000;
	enum reattach_action action = lose(&at, now);
	unsigned shown = 0;
	for (; action != REATTACH_END && shown < 10; shown++) {
		if (action == REATTACH_WAIT)
			action = reattach_next(&at, REATTACH_DUE, 0, now = at.due_ms);
		assert_int_equal(action, REATTACH_TRY);
		assert_int_equal(reattach_next(&at, REATTACH_ANSWERS, 0, now), REATTACH_SHOW);
		action = reattach_next(&at, REATTACH_ENDED, REATTACH_SSH_FAILED, ++now);
	}
	assert_int_equal(shown, 3);
	assert_true(at.ends_there);
	assert_int_equal(at.status, REATTACH_UNREACHABLE);
}

static void one_that_stays_for_a_while_does_not_end_there(void **state UNUSED)
{
	struct reattach at;
	int64_t now = 50000;
	(void)lose(&at, now);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(reattach_next(&at, REATTACH_ANSWERS, 0, now), REATTACH_SHOW);
		now += 10000;
		assert_int_equal(reattach_next(&at, REATTACH_ENDED, REATTACH_SSH_FAILED, now),
				 REATTACH_TRY);
	}
}

/* Each attempt to a host that drops packets takes 5 s, or more. */
static void slow_attempts_are_counted_by_the_clock(void **state UNUSED)
{
	struct reattach at;
	int64_t now = 50000;
	(void)lose(&at, now);
	for (; now < 110000 - 5000; now += 5000)
		assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, now + 5000), REATTACH_TRY);
	assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 110000), REATTACH_TRY);
	assert_int_equal(reattach_next(&at, REATTACH_SILENT, 0, 110010), REATTACH_WAIT);
	assert_int_equal(at.due_ms, 115000);
	at.due_ms = 50000 + 45 * 60000;
	(void)reattach_next(&at, REATTACH_DUE, 0, at.due_ms);
	(void)reattach_next(&at, REATTACH_SILENT, 0, at.tried_ms + 10);
	assert_int_equal(at.due_ms, at.tried_ms + 60000);
}

static void a_key_tries_and_the_leave_key_leaves(void **state UNUSED)
{
	struct reattach at;
	(void)lose(&at, 50000);
	(void)reattach_next(&at, REATTACH_SILENT, 0, 50010);
	assert_int_equal(reattach_next(&at, REATTACH_KEY, 0, 50020), REATTACH_WAIT);
	at.due_ms = 60000;
	assert_int_equal(reattach_next(&at, REATTACH_KEY, 0, 52000), REATTACH_TRY);
	assert_int_equal(reattach_next(&at, REATTACH_LEAVE, 0, 52010), REATTACH_END);
	assert_int_equal(at.status, REATTACH_UNREACHABLE);
	assert_true(at.is_lost);
}

static void what_needs_its_user_is_not_tried(void **state UNUSED)
{
	struct reattach at;
	(void)lose(&at, 50000);
	assert_int_equal(reattach_next(&at, REATTACH_REFUSED, 0, 50010), REATTACH_END);
	assert_int_equal(at.status, REATTACH_UNREACHABLE);
	/* A connection for which its user had to type a password is not made again. */
	at = (struct reattach){ 0 };
	assert_int_equal(reattach_next(&at, REATTACH_NETWORK, 0, 50000), REATTACH_WAIT);
	assert_int_equal(reattach_next(&at, REATTACH_ENDED, REATTACH_SSH_FAILED, 50001),
			 REATTACH_END);
	assert_int_equal(at.status, REATTACH_UNREACHABLE);
	assert_true(reattach_needs_user("ann@gpu1: Permission denied (publickey)."));
	assert_true(reattach_needs_user("x; Host key verification failed."));
	assert_false(reattach_needs_user("connect to host gpu1 port 22: Connection refused"));
}

/* Whatever comes in whatever order: it never waits without end while it is lost, and shows nothing
 * twice at once. */
static void no_order_of_events_is_a_dead_end(void **state UNUSED)
{
	unsigned random = 1;
	struct reattach at;
	int64_t now = 50000;
	(void)lose(&at, now);
	for (int i = 0; i < 100000; i++) {
		random = random * 1103515245 + 12345;
		const enum reattach_event event = (random >> 16) % (REATTACH_KEY + 1);
		now += (random >> 8) % 700;
		if (event == REATTACH_REFUSED)
			continue;
		const bool was_shown = at.phase == REATTACH_SHOWN;
		const enum reattach_action action = reattach_next(&at, event, REATTACH_SSH_FAILED,
								  now);
		if (at.ends_there)
			(void)lose(&at, now);
		else
			assert_int_not_equal(action, REATTACH_END);
		assert_false(was_shown && action == REATTACH_SHOW);
		assert_true(at.phase != REATTACH_WAITING || at.due_ms <= now + 60000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_there_is_no_broken_link),
		cmocka_unit_test(a_broken_link_is_tried_at_once_and_then_each_second),
		cmocka_unit_test(a_host_that_stays_away_is_tried_less_often),
		cmocka_unit_test(a_link_that_breaks_again_and_again_is_no_storm),
		cmocka_unit_test(a_host_that_never_knows_who_it_is_is_not_tried_for_ever),
		cmocka_unit_test(a_new_address_is_a_reason_to_look),
		cmocka_unit_test(who_detaches_during_a_check_has_left),
		cmocka_unit_test(what_ends_there_each_time_is_not_tried_for_ever),
		cmocka_unit_test(one_that_stays_for_a_while_does_not_end_there),
		cmocka_unit_test(slow_attempts_are_counted_by_the_clock),
		cmocka_unit_test(a_key_tries_and_the_leave_key_leaves),
		cmocka_unit_test(what_needs_its_user_is_not_tried),
		cmocka_unit_test(no_order_of_events_is_a_dead_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
