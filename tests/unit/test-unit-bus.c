/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user manager and logind on a message bus that dbus-run-session(1) makes: this program runs
 * itself below it.
 */
#include "unit/unit-fixture.h"

#include "base/program.h"

#define BELOW_BUS "AGENTDECK_TEST_BELOW_BUS"

static int set_up_bus(void **state)
{
	char *why = NULL;
	(void)set_up(state);
	struct fixture *f = *state;
	start_fake(f, "bus");
	assert_int_equal(unit_bus_open(f->directory, &f->bus, &why, &f->err), 0);
	return 0;
}

static void on_a_bus_the_manager_is_found_by_name(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(unit_bus_version(f->bus), "252.0-fake");
	assert_int_equal(count_calls(f, "Subscribe"), 1);
	assert_int_equal(start(f, "good.scope"), 0);
	assert_int_equal(start(f, "early.scope"), 0);
	assert_error(f, start(f, "failed.scope"), ERROR_SYSTEM, "failed.scope");
	assert_int_equal(unit_stop(f->bus, "good.scope", clock_ms() + PLENTY_MS, &f->err), 0);
}

static void on_a_bus_a_manager_that_vanishes_is_unavailable(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start(f, "vanish-job.scope"), ERROR_UNAVAILABLE, "vanish-job.scope");
	/* The bus is still there, but the name has no owner. */
	assert_error(f, start(f, "good.scope"), ERROR_UNAVAILABLE, "good.scope");
}

static void on_a_bus_an_unanswered_call_of_a_vanished_manager_is_unavailable(void **state)
{
	struct fixture *f = *state;
	assert_error(f, start(f, "vanish.scope"), ERROR_UNAVAILABLE, "vanish.scope");
}

static void a_bus_without_a_manager_is_no_manager(void **state)
{
	struct fixture *f = *state;
	struct unit_bus *bus = NULL;
	cleanup_free char *why = NULL;
	child_abandon(&f->manager);
	assert_int_equal(unit_bus_open(f->directory, &bus, &why, &f->err), UNIT_NO_MANAGER);
	assert_non_null(strstr(why, "org.freedesktop.systemd1"));
	assert_null(bus);
}

static void a_private_socket_goes_before_the_bus(void **state)
{
	struct fixture *f = *state;
	struct fixture direct = { .directory = f->directory, .log = f->log };
	start_fake(&direct, "direct");
	unsigned before = count_calls(f, "Subscribe");
	cleanup_unit_bus struct unit_bus *bus = NULL;
	char *why = NULL;
	int r = unit_bus_open(f->directory, &bus, &why, &f->err);
	child_abandon(&direct.manager);
	assert_int_equal(r, 0);
	assert_int_equal(count_calls(f, "Subscribe"), before);
}

static void logind_is_asked_for_what_a_logout_kills(void **state)
{
	struct fixture *f = *state;
	struct login_facts facts = { 0 };
	assert_int_equal(login_facts(getuid(), &facts, &f->err), 0);
	assert_true(facts.kill_user_processes);
}

static void lingering_is_asked_for_without_a_dialogue(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(login_enable_linger(4711, &f->err), 0);
	assert_int_equal(count_calls(f, "SetUserLinger 4711 1 0"), 1);
}

static void a_refused_lingering_comes_with_the_remedy(void **state)
{
	struct fixture *f = *state;
	int r = login_enable_linger(0, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "loginctl enable-linger root");
}

static void without_logind_there_is_none(void **state)
{
	struct fixture *f = *state;
	struct login_facts facts = { 0 };
	child_abandon(&f->manager);
	assert_int_equal(login_facts(getuid(), &facts, &f->err), UNIT_NO_MANAGER);
	assert_int_equal(login_enable_linger(4711, &f->err), UNIT_NO_MANAGER);
	assert_int_equal(f->err.code, ERROR_NONE);
}

static void without_a_system_bus_there_is_no_logind(void **state)
{
	struct fixture *f = *state;
	struct login_facts facts = { 0 };
	cleanup_free char *address = xstrdup_or_null(getenv("DBUS_SYSTEM_BUS_ADDRESS"));
	(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	int r = login_facts(getuid(), &facts, &f->err);
	(void)unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	if (address)
		(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	assert_int_equal(r, UNIT_NO_MANAGER);
}

/* Returns only if there is no dbus-run-session. */
static void run_below_a_bus(char *argv[])
{
	cleanup_free char *program = program_path("dbus-run-session", NULL, NULL);
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	if (!self || !program)
		return;
	char separator[] = "--";
	char *run[] = { program, separator, self, argv[1], NULL };
	(void)setenv(BELOW_BUS, "1", 1);
	(void)execv(program, run);
	perror(program);
	exit(1);
}

#define ON_BUS(test) cmocka_unit_test_setup_teardown(test, set_up_bus, tear_down)

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		ON_BUS(on_a_bus_the_manager_is_found_by_name),
		ON_BUS(on_a_bus_a_manager_that_vanishes_is_unavailable),
		ON_BUS(on_a_bus_an_unanswered_call_of_a_vanished_manager_is_unavailable),
		ON_BUS(a_bus_without_a_manager_is_no_manager),
		ON_BUS(a_private_socket_goes_before_the_bus),
		ON_BUS(logind_is_asked_for_what_a_logout_kills),
		ON_BUS(lingering_is_asked_for_without_a_dialogue),
		ON_BUS(a_refused_lingering_comes_with_the_remedy),
		ON_BUS(without_logind_there_is_none),
		ON_BUS(without_a_system_bus_there_is_no_logind),
	};
	if (!getenv(BELOW_BUS)) {
		run_below_a_bus(argv);
		(void)fprintf(stderr, "skipped: no dbus-run-session (Debian: dbus-daemon)\n");
		return getenv("AGENTDECK_TEST_STRICT") ? 1 : 77;
	}
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	if (!address)
		return 1;
	(void)setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
