/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every cell of the table of states, and what a change does to an instance.
 */
#include "unit/test.h"

#include "model/session/state.h"

#define NOW INT64_C(1776157681000123)

static const struct state_stamp stamp = {
	.now_us = NOW, .boot_id = "this boot", .machine_id = "this machine", .host = "here"
};

/* "-": refused; "=": unchanged; else the next state and its effects. */
static void cell_text(struct state_cell cell, struct strbuf *ret)
{
	static const struct {
		enum state_effect effect;
		const char *word;
	} words[] = {
		{ EFFECT_CLEAR_RUN, " clear-run" },    { EFFECT_FORGET_EXIT, " forget-exit" },
		{ EFFECT_WANT_RUNNING, " want-run" },  { EFFECT_WANT_STOPPED, " want-stop" },
		{ EFFECT_NO_REASON, " no-reason" },    { EFFECT_NO_STAMP, " no-stamp" },
		{ EFFECT_WANT_ASLEEP, " want-sleep" },
	};
	if (cell.verdict == STATE_REFUSED)
		strbuf_adds(ret, "-");
	else if (cell.verdict == STATE_UNCHANGED)
		strbuf_adds(ret, "=");
	else
		strbuf_adds(ret, instance_state_name(cell.next));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (cell.effects & words[i].effect)
			strbuf_adds(ret, words[i].word);
}

#define ALL(text)                                  \
	{                                          \
		text, text, text, text, text, text \
	}

static const struct {
	enum state_event event;
	/* stopped, starting, running, stopping, restarting, error */
	const char *cells[PHASE_COUNT];
} rows[] = {
	{ EVENT_START_WANTED, ALL("starting forget-exit want-run") },
	{ EVENT_STARTED, { "-", "running", "-", "-", "-", "-" } },
	{ EVENT_START_FAILED, { "-", "error clear-run", "-", "-", "-", "-" } },
	{ EVENT_SEEN_ALIVE, { "running", "running", "=", "-", "-", "running" } },
	{ EVENT_STOP_WANTED, ALL("stopping want-stop") },
	{ EVENT_SLEEP_WANTED,
	  { "-", "-", "stopping want-sleep", "stopping want-sleep", "-", "-" } },
	{ EVENT_RESTART_WANTED, ALL("stopping want-run") },
	{ EVENT_STOPPED,
	  { "stopped clear-run want-stop", "stopped clear-run want-stop",
	    "stopped clear-run want-stop", "stopped clear-run", "stopped clear-run want-stop",
	    "stopped clear-run want-stop" } },
	{ EVENT_RESTART_GIVEN_UP,
	  { "=", "=", "-", "stopped clear-run", "stopped clear-run", "=" } },
	{ EVENT_QUIT,
	  { "stopped clear-run want-stop", "stopped clear-run want-stop",
	    "stopped clear-run want-stop", "stopped clear-run", "stopping clear-run",
	    "stopped clear-run want-stop" } },
	{ EVENT_COMPLETED,
	  { "stopped clear-run", "stopped clear-run", "stopped clear-run", "stopped clear-run",
	    "stopping clear-run", "stopped clear-run" } },
	{ EVENT_FAILED,
	  { "error clear-run", "error clear-run", "error clear-run", "stopped clear-run",
	    "stopping clear-run", "error clear-run" } },
	{ EVENT_SHELL, { "error", "error", "error", "-", "-", "error" } },
	{ EVENT_LOST, { "=", "error", "error", "stopped no-reason", "=", "=" } },
	{ EVENT_HELD, { "error", "-", "-", "-", "-", "error" } },
	{ EVENT_NOT_REVIVED, { "error", "error", "=", "-", "error", "error" } },
	{ EVENT_RESTART_PENDING, { "-", "-", "-", "-", "stopping", "-" } },
	{ EVENT_UNDECIDED, { "stopped no-stamp", "-", "-", "-", "-", "-" } },
	{ EVENT_DECIDED, { "stopped no-stamp", "-", "-", "-", "-", "-" } },
	{ EVENT_COPIED, ALL("stopped clear-run want-stop no-reason no-stamp") },
};
_Static_assert(ARRAY_SIZE(rows) == EVENT_COUNT, "an event without a row");

static void every_cell_is_as_expected(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(rows[i].event, i);
		for (int phase = 0; phase < PHASE_COUNT; phase++) {
			cleanup_strbuf struct strbuf text = { 0 };
			cell_text(state_look_up(rows[i].event, (enum state_phase)phase), &text);
			if (!streq(strbuf_text(&text), rows[i].cells[phase]))
				fail_msg("%s, phase %d: %s, not %s",
					 state_event_name(rows[i].event), phase, strbuf_text(&text),
					 rows[i].cells[phase]);
		}
	}
}

static void events_have_words(void **state)
{
	(void)state;
	for (int i = 0; i < EVENT_COUNT; i++)
		assert_false(is_empty(state_event_name((enum state_event)i)));
}

/* Wherever it is, it can be started and stopped: nothing is a dead end. */
static void no_phase_is_a_dead_end(void **state)
{
	static const enum state_event always[] = { EVENT_START_WANTED, EVENT_STOP_WANTED,
						   EVENT_RESTART_WANTED, EVENT_STOPPED };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		for (int phase = 0; phase < PHASE_COUNT; phase++)
			assert_int_equal(state_look_up(always[i], (enum state_phase)phase).verdict,
					 STATE_CHANGED);
}

static void stopping_is_two_phases(void **state)
{
	(void)state;
	assert_int_equal(state_phase(STATE_STOPPED, DESIRED_RUNNING), PHASE_STOPPED);
	assert_int_equal(state_phase(STATE_STARTING, DESIRED_STOPPED), PHASE_STARTING);
	assert_int_equal(state_phase(STATE_RUNNING, DESIRED_STOPPED), PHASE_RUNNING);
	assert_int_equal(state_phase(STATE_STOPPING, DESIRED_STOPPED), PHASE_STOPPING);
	assert_int_equal(state_phase(STATE_STOPPING, DESIRED_RUNNING), PHASE_RESTARTING);
	assert_int_equal(state_phase(STATE_ERROR, DESIRED_RUNNING), PHASE_ERROR);
	assert_true(state_is_restarting(STATE_STOPPING, DESIRED_RUNNING));
	assert_false(state_is_restarting(STATE_STOPPING, DESIRED_STOPPED));
	assert_false(state_is_restarting(STATE_RUNNING, DESIRED_RUNNING));
}

static void a_start_has_a_run_once_it_has_a_server(void **state)
{
	(void)state;
	for (int has_server = 0; has_server < 2; has_server++) {
		assert_true(state_has_run(STATE_RUNNING, has_server));
		assert_true(state_has_run(STATE_STOPPING, has_server));
		assert_int_equal(state_has_run(STATE_STARTING, has_server), has_server);
		assert_false(state_has_run(STATE_STOPPED, has_server));
		assert_false(state_has_run(STATE_ERROR, has_server));
	}
}

static void only_a_stop_that_was_wanted_is_rest(void **state)
{
	(void)state;
	assert_true(state_is_at_rest(STATE_STOPPED, DESIRED_STOPPED));
	assert_false(state_is_at_rest(STATE_STOPPED, DESIRED_RUNNING));
	assert_false(state_is_at_rest(STATE_ERROR, DESIRED_STOPPED));
	assert_false(state_is_at_rest(STATE_STOPPING, DESIRED_STOPPED));
}

static struct instance *new_running(void)
{
	struct instance *instance = instance_new();
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_RUNNING;
	instance->observed.since = 1;
	instance->observed.boot_id = xstrdup("an earlier boot");
	instance->observed.machine_id = xstrdup("another machine");
	instance->observed.host = xstrdup("there");
	instance->observed.exit.present = true;
	instance->run.id = xstrdup("run");
	return instance;
}

static void a_change_is_stamped(void **state)
{
	cleanup_instance struct instance *instance = new_running();
	(void)state;
	assert_int_equal(state_apply(instance, EVENT_LOST, "killed", &stamp), STATE_CHANGED);
	assert_int_equal(instance->observed.state, STATE_ERROR);
	assert_string_equal(instance->observed.reason, "killed");
	assert_int_equal(instance->observed.since, NOW / 1000 * 1000);
	assert_string_equal(instance->observed.boot_id, "this boot");
	assert_string_equal(instance->observed.machine_id, "this machine");
	assert_string_equal(instance->observed.host, "here");
	assert_int_equal(instance->desired, DESIRED_RUNNING);
	assert_true(instance->observed.exit.present);
	assert_string_equal(instance->run.id, "run");
}

static void what_is_not_known_is_not_kept(void **state)
{
	cleanup_instance struct instance *instance = new_running();
	const struct state_stamp unknown = { .now_us = NOW };
	(void)state;
	assert_int_equal(state_apply(instance, EVENT_STOP_WANTED, NULL, &unknown), STATE_CHANGED);
	assert_null(instance->observed.boot_id);
	assert_null(instance->observed.machine_id);
	assert_null(instance->observed.host);
	assert_null(instance->observed.reason);
}

static void effects_are_carried_out(void **state)
{
	cleanup_instance struct instance *instance = new_running();
	(void)state;
	assert_int_equal(state_apply(instance, EVENT_QUIT, "exit 0", &stamp), STATE_CHANGED);
	assert_int_equal(instance->observed.state, STATE_STOPPED);
	assert_int_equal(instance->desired, DESIRED_STOPPED);
	assert_null(instance->run.id);
	assert_true(instance->observed.exit.present);
	instance->archived_at = 5;
	assert_int_equal(state_apply(instance, EVENT_STOPPED, NULL, &stamp), STATE_CHANGED);
	assert_true(instance_archived_at(instance) == 5);
	assert_int_equal(state_apply(instance, EVENT_START_WANTED, NULL, &stamp), STATE_CHANGED);
	assert_true(instance->archived_at == 0);
	assert_int_equal(instance->desired, DESIRED_RUNNING);
	assert_false(instance->observed.exit.present);
	assert_null(instance->observed.reason);
}

static void a_stop_that_is_done_needs_no_reason(void **state)
{
	cleanup_instance struct instance *instance = new_running();
	(void)state;
	instance->desired = DESIRED_STOPPED;
	instance->observed.state = STATE_STOPPING;
	assert_int_equal(state_apply(instance, EVENT_LOST, "killed", &stamp), STATE_CHANGED);
	assert_int_equal(instance->observed.state, STATE_STOPPED);
	assert_null(instance->observed.reason);
}

static void a_copy_says_nothing_of_now(void **state)
{
	cleanup_instance struct instance *instance = new_running();
	(void)state;
	instance->observed.reason = xstrdup("of the original");
	assert_int_equal(state_apply(instance, EVENT_COPIED, NULL, NULL), STATE_CHANGED);
	assert_int_equal(instance->observed.state, STATE_STOPPED);
	assert_int_equal(instance->desired, DESIRED_STOPPED);
	assert_int_equal(instance->observed.since, 1);
	assert_string_equal(instance->observed.boot_id, "an earlier boot");
	assert_null(instance->observed.reason);
	assert_null(instance->run.id);
}

static void a_new_instance_is_stopped(void **state)
{
	cleanup_instance struct instance *instance = instance_new();
	(void)state;
	state_begin(instance, NOW);
	assert_int_equal(instance->observed.state, STATE_STOPPED);
	assert_int_equal(instance->desired, DESIRED_STOPPED);
	assert_int_equal(instance->observed.since, NOW);
	assert_null(instance->observed.boot_id);
}

static void what_is_refused_or_the_same_changes_nothing(void **state)
{
	static const struct {
		enum state_event event;
		enum state_verdict verdict;
	} events[] = { { EVENT_STARTED, STATE_REFUSED }, { EVENT_SEEN_ALIVE, STATE_UNCHANGED } };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		cleanup_instance struct instance *instance = new_running();
		assert_int_equal(state_apply(instance, events[i].event, "why", &stamp),
				 events[i].verdict);
		assert_int_equal(instance->observed.state, STATE_RUNNING);
		assert_int_equal(instance->observed.since, 1);
		assert_null(instance->observed.reason);
		assert_string_equal(instance->observed.boot_id, "an earlier boot");
		assert_string_equal(instance->run.id, "run");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_is_as_expected),
		cmocka_unit_test(events_have_words),
		cmocka_unit_test(no_phase_is_a_dead_end),
		cmocka_unit_test(stopping_is_two_phases),
		cmocka_unit_test(a_start_has_a_run_once_it_has_a_server),
		cmocka_unit_test(only_a_stop_that_was_wanted_is_rest),
		cmocka_unit_test(a_change_is_stamped),
		cmocka_unit_test(what_is_not_known_is_not_kept),
		cmocka_unit_test(effects_are_carried_out),
		cmocka_unit_test(a_stop_that_is_done_needs_no_reason),
		cmocka_unit_test(a_copy_says_nothing_of_now),
		cmocka_unit_test(a_new_instance_is_stopped),
		cmocka_unit_test(what_is_refused_or_the_same_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
