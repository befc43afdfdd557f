/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sessions may sleep, and why not.  That one sleeps and wakes is tested with tmux.
 */
#include "unit/test.h"

#include "base/clock.h"
#include "model/plan/sleep.h"
#include "model/settings/settings.h"

enum { HOUR = 3600 };

/* Idle for two hours, and nothing speaks against it. */
static const struct sleep_facts sleepy = {
	.after_us = INT64_C(1000000) * HOUR,
	.is_running = true,
	.activity = ACTIVITY_IDLE,
	.idle_us = INT64_C(2000000) * HOUR,
	.is_unwatched = true,
	.shows_idle = true,
	.has_empty_box = true,
	.is_undisturbed = true,
	.is_alone = true,
	.is_resumable = true,
};

static void assert_verdict(struct sleep_facts facts, enum sleep_verdict expected)
{
	assert_string_equal(sleep_why(sleep_decide(&facts)), sleep_why(expected));
}

#define ASSERT_BUT(member, value, verdict)         \
	do {                                       \
		struct sleep_facts facts = sleepy; \
		facts.member = (value);            \
		assert_verdict(facts, verdict);    \
	} while (0)

static void one_hindrance_is_enough(void **state UNUSED)
{
	assert_verdict(sleepy, SLEEP_NOW);
	ASSERT_BUT(after_us, 0, SLEEP_OFF);
	ASSERT_BUT(is_running, false, SLEEP_NOT_RUNNING);
	ASSERT_BUT(activity, ACTIVITY_BUSY, SLEEP_NOT_IDLE);
	ASSERT_BUT(activity, ACTIVITY_WAITING, SLEEP_NOT_IDLE);
	ASSERT_BUT(activity, ACTIVITY_UNKNOWN, SLEEP_NOT_IDLE);
	ASSERT_BUT(idle_us, 0, SLEEP_NOT_IDLE);
	ASSERT_BUT(idle_us, sleepy.after_us - 1, SLEEP_LATER);
	ASSERT_BUT(idle_us, sleepy.after_us, SLEEP_NOW);
	ASSERT_BUT(has_work, true, SLEEP_BUSY);
	ASSERT_BUT(is_unwatched, false, SLEEP_WATCHED);
	ASSERT_BUT(shows_idle, false, SLEEP_UNSEEN);
	ASSERT_BUT(has_empty_box, false, SLEEP_DRAFT);
	ASSERT_BUT(is_undisturbed, false, SLEEP_MESSAGE);
	ASSERT_BUT(is_alone, false, SLEEP_NOT_ALONE);
	ASSERT_BUT(is_resumable, false, SLEEP_UNPROVEN);
}

static void what_is_not_known_never_sleeps(void **state UNUSED)
{
	assert_verdict((struct sleep_facts){ .after_us = 1 }, SLEEP_NOT_RUNNING);
	assert_verdict((struct sleep_facts){ .after_us = 1, .is_running = true }, SLEEP_NOT_IDLE);
	assert_verdict((struct sleep_facts){ 0 }, SLEEP_OFF);
}

static void a_setting_is_a_time_or_off(void **state UNUSED)
{
	static const char *const bad[] = { "", "2", "h", "0s", "-1h", "2 h", "on", "2147483647w" };
	int64_t us = -1;
	assert_true(settings_sleep_us("2h", &us));
	assert_int_equal(us, INT64_C(2000000) * HOUR);
	assert_true(settings_sleep_us("off", &us));
	assert_int_equal(us, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(settings_sleep_us(bad[i], &us));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hindrance_is_enough),
		cmocka_unit_test(what_is_not_known_never_sleeps),
		cmocka_unit_test(a_setting_is_a_time_or_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
