/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether anything in a tree changed.
 */
#include "unit/scratch.h"

#include "engine/workspace/stamp.h"

#include <fcntl.h>
#include <sys/stat.h>

static bool is_as_it_was(const struct tree_stamp *before)
{
	const struct tree_stamp now = tree_stamp_of(here, "tree");
	return tree_stamp_equal(before, &now);
}

static void every_change_is_seen(void **state UNUSED)
{
	const struct tree_stamp nothing = { 0 };
	assert_true(is_as_it_was(&nothing));
	assert_int_equal(mkdirat(here, "tree", 0700), 0);
	assert_int_equal(mkdirat(here, "tree/sub", 0700), 0);
	put("tree/sub/file", "x");
	struct tree_stamp before = tree_stamp_of(here, "tree");
	assert_true(is_as_it_was(&before));
	const struct timespec same[] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	assert_int_equal(utimensat(here, "tree/sub/file", same, 0), 0);
	assert_false(is_as_it_was(&before));
	before = tree_stamp_of(here, "tree");
	put("tree/sub/other", "x");
	assert_false(is_as_it_was(&before));
	before = tree_stamp_of(here, "tree");
	assert_int_equal(unlinkat(here, "tree/sub/other", 0), 0);
	assert_false(is_as_it_was(&before));
}

static void its_own_name_does_not_count(void **state UNUSED)
{
	assert_int_equal(mkdirat(here, "first", 0700), 0);
	put("first/file", "x");
	const struct tree_stamp before = tree_stamp_of(here, "first");
	assert_int_equal(renameat(here, "first", here, "tree"), 0);
	assert_true(is_as_it_was(&before));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_change_is_seen),
		TEST(its_own_name_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
