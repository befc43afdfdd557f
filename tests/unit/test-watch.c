/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Waiting for what happens to a file or a directory.
 */
#include "unit/scratch.h"

#include "base/clock.h"
#include "base/watch.h"

#include <sys/inotify.h>

enum { PLENTY_MS = 20000, SHORT_MS = 20 };

static void what_happens_ends_the_wait_once(void **state UNUSED)
{
	cleanup_close int watch = watch_open(scratch, IN_MOVED_TO);
	assert_true(watch >= 0);
	assert_false(watch_wait(watch, 0));
	put("a", "1");
	put("b", "2");
	assert_true(watch_wait(watch, clock_ms() + PLENTY_MS));
	assert_false(watch_wait(watch, 0));
	put("a", "3");
	watch_drain(watch);
	assert_false(watch_wait(watch, 0));
}

static void other_events_do_not_count(void **state UNUSED)
{
	cleanup_close int watch = watch_open(scratch, IN_DELETE);
	put("a", "1");
	const int64_t deadline = clock_ms() + SHORT_MS;
	assert_false(watch_wait(watch, deadline));
	assert_true(clock_ms() >= deadline);
}

static void without_a_watch_the_deadline_ends_the_wait(void **state UNUSED)
{
	const int64_t deadline = clock_ms() + SHORT_MS;
	assert_int_equal(watch_open("/nonexistent", IN_CREATE), -1);
	assert_false(watch_wait(-1, deadline));
	assert_true(clock_ms() >= deadline);
	watch_drain(-1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_happens_ends_the_wait_once),
		TEST(other_events_do_not_count),
		TEST(without_a_watch_the_deadline_ends_the_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
