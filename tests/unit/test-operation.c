/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operation: its lock, what it looks at, and what it writes down of that.
 */
#include "unit/fake-place.h"

#include "engine/run/operation.h"

static void put_running(const struct fake_desk *desk)
{
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
}

static struct operation opened(struct fake_desk *desk)
{
	struct operation operation;
	struct error err = { 0 };
	if (operation_open_settled(&desk->deck, FAKE_ID, &operation, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	return operation;
}

static void one_at_a_time(void **state)
{
	struct fake_desk *desk = *state;
	struct operation other = { 0 };
	cleanup_error struct error err = { 0 };
	put_running(desk);
	cleanup_operation struct operation operation = opened(desk);
	assert_int_equal(operation_open(&desk->deck, FAKE_ID, 0, &other, &err), -1);
	assert_int_equal(err.code, ERROR_BUSY);
	assert_null(other.lock);
	operation_close(&operation);
	assert_int_equal(operation_open(&desk->deck, FAKE_ID, 0, &other, NULL), 0);
	operation_close(&other);
	operation_close(&other);
}

static void what_was_removed_cannot_be_opened(void **state)
{
	struct fake_desk *desk = *state;
	struct operation operation;
	cleanup_error struct error err = { 0 };
	assert_int_equal(operation_open_settled(&desk->deck, FAKE_ID, &operation, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
}

static void what_is_taken_is_closed_once(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	cleanup_operation struct operation first = opened(desk);
	cleanup_operation struct operation second = operation_take(&first);
	assert_null(first.lock);
	assert_null(first.instance);
	assert_non_null(second.lock);
}

static void it_looks_once(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	cleanup_operation struct operation operation = opened(desk);
	assert_int_equal(fake.looks, 0);
	assert_int_equal(operation_look(&operation)->presence, PRESENCE_ALIVE);
	fake.presence = PRESENCE_NONE;
	assert_int_equal(operation_look(&operation)->presence, PRESENCE_ALIVE);
	assert_int_equal(fake.looks, 1);
}

/* A start that was killed before it could say what it had started. */
static void what_is_seen_is_written_down_once(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *cut = fake_running(desk);
	cut->observed.state = STATE_STARTING;
	cut->run.server = cut->run.pane = (struct process_id){ 0 };
	fake_put(desk, cut);
	cleanup_operation struct operation operation = opened(desk);
	assert_int_equal(operation_note_alive(&operation, operation_look(&operation), NULL), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->run.server.pid, getpid());
	assert_int_equal(after->run.pane.pid, getpid());
	/* From then on there is nothing to save. */
	replace_string(&operation.instance->title, "not saved");
	assert_int_equal(operation_note_alive(&operation, operation_look(&operation), NULL), 0);
	cleanup_instance struct instance *again = fake_load(desk);
	assert_string_equal(again->title, after->title);
}

static void a_run_of_another_machine_is_refused_or_taken_over(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	replace_string(&instance->run.machine_id, "ffffffffffffffffffffffffffffffff");
	replace_string(&instance->run.boot_id, "00000000-0000-0000-0000-000000000000");
	fake_put(desk, instance);
	cleanup_operation struct operation operation = opened(desk);
	cleanup_error struct error err = { 0 };
	assert_int_equal(operation_admit(&operation, false, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(operation_admit(&operation, true, NULL), 0);
	assert_string_equal(or_empty(operation.instance->run.machine_id), machine_id());
}

/* Its pids may be those of other processes here. */
static void what_is_taken_over_from_a_container_has_no_processes_here(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	replace_string(&instance->run.machine_id, *machine_id() ? machine_id() : NULL);
	replace_string(&instance->run.pid_namespace, "1:1");
	fake_put(desk, instance);
	cleanup_operation struct operation operation = opened(desk);
	const struct run *run = &operation.instance->run;
	cleanup_error struct error err = { 0 };
	assert_int_equal(operation_admit(&operation, false, &err), -1);
	assert_int_equal(run_relation(run), MACHINE_OTHER);
	assert_int_equal(operation_admit(&operation, true, NULL), 0);
	assert_int_equal(run_relation(run), MACHINE_THIS_BOOT);
	assert_int_equal(run->server.pid, 0);
	assert_int_equal(run->pane.pid, 0);
	assert_string_equal(run->pid_namespace, machine_pid_namespace());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(one_at_a_time),
		FAKE_TEST(what_was_removed_cannot_be_opened),
		FAKE_TEST(what_is_taken_is_closed_once),
		FAKE_TEST(it_looks_once),
		FAKE_TEST(what_is_seen_is_written_down_once),
		FAKE_TEST(a_run_of_another_machine_is_refused_or_taken_over),
		FAKE_TEST(what_is_taken_over_from_a_container_has_no_processes_here),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
