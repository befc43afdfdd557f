/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * src/driver/systemd/unit-none.c, which replaces the user manager in a build --without-systemd.
 */
#include "unit/test.h"

#include "base/process.h"
#include "driver/systemd/unit.h"

static void the_reason_is_the_build(void **state UNUSED)
{
	struct unit_bus *bus = NULL;
	struct error err = { 0 };
	cleanup_free char *why = NULL;
	assert_int_equal(unit_bus_open("/run/user/0", &bus, &why, &err), UNIT_NO_MANAGER);
	assert_string_equal(why, "built without systemd");
	assert_null(bus);
	assert_int_equal(err.code, ERROR_NONE);
	unit_bus_close(bus);
}

static void every_question_finds_no_manager(void **state UNUSED)
{
	const struct unit_scope scope = { .name = "a.scope", .slice = "agentdeck-0123abcd.slice" };
	cleanup_unit_state struct unit_state unit = { 0 };
	struct login_facts facts = { 0 };
	struct error err = { 0 };
	assert_int_equal(unit_start_scope(NULL, &scope, 0, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_wait_gone(NULL, "a.scope", 0, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_get_state(NULL, "a.scope", &unit, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_set_limits(NULL, "a.scope", &(struct limits){ 0 }, &err),
			 UNIT_NO_MANAGER);
	assert_int_equal(unit_stop(NULL, "a.scope", 0, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_search_path(NULL, NULL, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_reload_manager(NULL, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_enable(NULL, "a.service", &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_disable(NULL, "a.service", &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_file_state(NULL, "a.service", NULL, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_restart(NULL, "a.service", 0, &err), UNIT_NO_MANAGER);
	assert_int_equal(unit_get_service(NULL, "a.service", NULL, &err), UNIT_NO_MANAGER);
	assert_int_equal(login_facts(0, &facts, &err), UNIT_NO_MANAGER);
	assert_int_equal(login_enable_linger(0, &err), UNIT_NO_MANAGER);
	assert_false(login_lingers(0));
	assert_int_equal(err.code, ERROR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_is_the_build),
		cmocka_unit_test(every_question_finds_no_manager),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
