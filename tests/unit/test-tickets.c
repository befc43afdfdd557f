/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A start removes the tickets of commands that were killed, and no other ones.
 */
#include "unit/scratch.h"

#include "engine/place/container/container-internal.h"

static void only_tickets_that_nobody_holds_are_removed(void **state UNUSED)
{
	cleanup_fs_lock struct fs_lock held = FS_UNLOCKED;
	put("exec-killed", "");
	put("token", "");
	assert_int_equal(fs_lock(here, "exec-held", 0, &held, NULL), 0);
	container_sweep_tickets(here);
	assert_int_equal(faccessat(here, "exec-killed", F_OK, 0), -1);
	assert_int_equal(faccessat(here, "exec-held", F_OK, 0), 0);
	assert_int_equal(faccessat(here, "token", F_OK, 0), 0);
	fs_unlock(&held);
	container_sweep_tickets(here);
	assert_int_equal(faccessat(here, "exec-held", F_OK, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_tickets_that_nobody_holds_are_removed, set_up,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
