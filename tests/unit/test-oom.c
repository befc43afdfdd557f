/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether lack of memory ended an agent.
 */
#include "unit/test.h"

#include "engine/place/oom.h"

static void a_count_that_was_known_for_long_did_not_end_the_agent(void **state UNUSED)
{
	const int64_t now = 1000000;
	assert_true(oom_is_new(1, 0, 0, now));
	assert_true(oom_is_new(3, 2, now - 5, now));
	/* A supervisor was faster than the pane. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_that_was_known_for_long_did_not_end_the_agent),
		cmocka_unit_test(kills_are_told_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
