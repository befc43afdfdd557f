/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which of several attached terminals gives a notice.
 */
#include "unit/scratch.h"

#include "base/clock.h"
#include "engine/supervise/claims.h"

static const struct deck deck = { .paths.state = scratch };

static void only_the_first_takes_a_claim(void **state UNUSED)
{
	assert_true(claims_take(&deck, "0123abcd error 0"));
	assert_false(claims_take(&deck, "0123abcd error 0"));
	assert_true(claims_take(&deck, "0123abcd error 1"));
	assert_true(claims_take(&deck, "4567abcd error 0"));
	assert_false(claims_take(&deck, "0123abcd error 0"));
}

static void what_is_old_or_damaged_counts_no_more(void **state UNUSED)
{
	const int64_t now_ms = clock_wall_us() / 1000;
	cleanup_free char *text = xasprintf(
		"%lld000 old\n\nno time\n99 \n%lld000 new\n%lld000 of tomorrow",
		(long long)now_ms - 2 * CLAIMS_KEPT_MS, (long long)now_ms,
		(long long)now_ms + 86400000);
	put(CLAIMS, text);
	assert_true(claims_take(&deck, "old"));
	assert_false(claims_take(&deck, "new"));
	assert_true(claims_take(&deck, "of tomorrow"));
	cleanup_free char *left = get(CLAIMS);
	assert_null(strstr(left, "no time"));
}

static void two_notices_are_better_than_none(void **state UNUSED)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	assert_int_equal(fs_lock(here, CLAIMS_LOCK, 0, &lock, NULL), 0);
	assert_true(claims_take(&deck, "locked"));
	cleanup_free char *missing = xasprintf("%s/file/below", scratch);
	put("file", "");
	const struct deck nowhere = { .paths.state = missing };
	assert_true(claims_take(&nowhere, "x"));
	assert_true(claims_take(&nowhere, "x"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_the_first_takes_a_claim),
		TEST(what_is_old_or_damaged_counts_no_more),
		TEST(two_notices_are_better_than_none),
	};
	return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
