/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/alive.h"
#include "unit/store-fixture.h"

#include "engine/place/place.h"

#define OTHER_BOOT    "00000000-0000-4000-8000-000000000000"
#define OTHER_MACHINE "11111111-0000-4000-8000-000000000000"

static struct process_id self(void)
{
	struct process_id id = { 0 };
	assert_int_equal(process_identify(getpid(), &id, NULL), 0);
	return id;
}

/* A live pid that belonged to another process then. */
static const struct process_id dead = { .pid = 1, .start = 1 };

static struct place_run run_here(struct process_id server, struct process_id pane)
{
	return (struct place_run){ .backend = (char *)PLACE_DEFAULT,
				   .boot_id = (char *)(uintptr_t)process_boot_id(),
				   .server = server,
				   .pane = pane };
}

static void a_server_that_is_there_is_alive(void **state)
{
	(void)state;
	const struct place_run run = run_here(self(), dead);
	assert_int_equal(place_presence(&run), PRESENCE_ALIVE);
	assert_true(place_is_live(&run));
	assert_false(place_agent_is_live(&run));
	assert_true(place_is_between(&run.server, &run.pane));
}

static void a_pid_of_another_process_is_none(void **state)
{
	(void)state;
	const struct place_run run = run_here(dead, self());
	assert_int_equal(place_presence(&run), PRESENCE_NONE);
	assert_string_equal(place_end_reason(&run), "its tmux server was killed");
	/* The agent can outlive its server. */
	assert_true(place_agent_is_live(&run));
	assert_false(place_is_between(&run.server, &run.pane));
}

static void nothing_of_an_earlier_boot_lives(void **state)
{
	(void)state;
	struct place_run run = run_here(self(), self());
	run.boot_id = (char *)OTHER_BOOT;
	run.machine_id = *machine_id() ? (char *)(uintptr_t)machine_id() : NULL;
	assert_int_equal(place_presence(&run), PRESENCE_NONE);
	assert_string_equal(place_end_reason(&run), "the machine was restarted");
	assert_false(place_agent_is_live(&run));
}

static void another_machines_run_is_unknown(void **state)
{
	(void)state;
	struct place_run run = run_here(self(), self());
	run.boot_id = (char *)OTHER_BOOT;
	run.machine_id = (char *)OTHER_MACHINE;
	assert_int_equal(place_presence(&run), PRESENCE_UNKNOWN);
	assert_false(place_is_live(&run));
	assert_false(place_agent_is_live(&run));
}

static void a_run_of_another_container_is_unknown(void **state)
{
	(void)state;
	struct place_run run = run_here(dead, self());
	run.machine_id = *machine_id() ? (char *)(uintptr_t)machine_id() : NULL;
	run.pid_namespace = (char *)"1:1";
	run.host = (char *)(uintptr_t)machine_host();
	cleanup_free char *name = place_elsewhere(&run);
	assert_non_null(strstr(or_empty(name), "(another PID namespace)"));
	assert_int_equal(place_presence(&run), PRESENCE_UNKNOWN);
	assert_false(place_is_empty(&run));
	assert_false(place_agent_is_live(&run));
	run.pid_namespace = (char *)(uintptr_t)machine_pid_namespace();
	assert_null(place_elsewhere(&run));
	assert_int_equal(place_presence(&run), PRESENCE_NONE);
}

static void what_nobody_wrote_down_is_unknown(void **state)
{
	(void)state;
	const struct place_run run = run_here((struct process_id){ 0 }, (struct process_id){ 0 });
	assert_int_equal(place_presence(&run), PRESENCE_UNKNOWN);
	assert_false(place_is_live(&run));
	assert_false(place_is_between(&run.server, &run.pane));
}

static void a_place_that_is_not_known_is_unknown(void **state)
{
	(void)state;
	struct place_run run = run_here(dead, dead);
	run.backend = (char *)"of-tomorrow";
	assert_int_equal(place_presence(&run), PRESENCE_UNKNOWN);
	assert_false(place_agent_is_live(&run));
	assert_null(place_silence(&run));
	place_nudge(&run);
}

static void a_row_and_its_instance_say_the_same(void **state)
{
	struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = new_instance("0123abcd", "api");
	cleanup_store_rows struct store_rows rows = { 0 };
	replace_string(&instance->run.boot_id, process_boot_id());
	instance->run.id = xstrdup("run");
	instance->run.socket = xasprintf("%s/tmux.sock", fixture->root);
	instance->run.server = instance->run.pane = self();
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, 1);
	const struct place_run of_instance = place_run_of(instance);
	assert_int_equal(place_presence(&of_instance), PRESENCE_ALIVE);
	assert_int_equal(place_presence(&rows.rows[0].run), PRESENCE_ALIVE);
	assert_true(process_same(&of_instance.pane, &rows.rows[0].run.pane));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_that_is_there_is_alive),
		cmocka_unit_test(a_pid_of_another_process_is_none),
		cmocka_unit_test(nothing_of_an_earlier_boot_lives),
		cmocka_unit_test(another_machines_run_is_unknown),
		cmocka_unit_test(a_run_of_another_container_is_unknown),
		cmocka_unit_test(what_nobody_wrote_down_is_unknown),
		cmocka_unit_test(a_place_that_is_not_known_is_unknown),
		STORE_TEST(a_row_and_its_instance_say_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
