/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of the steps of a start, a stop and a restart, and what stands in the manifest when one
 * of them is the last that happened.  tests/persistence shows the same with a real tmux.
 */
#include "unit/fake-place.h"

#include "base/fsutil.h"
#include "driver/store/store-watch.h"
#include "engine/adopt/adopt.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/runfiles.h"
#include "engine/roster/view.h"
#include "engine/run/change.h"
#include "engine/run/correct.h"
#include "engine/run/limit.h"
#include "engine/run/start.h"
#include "engine/run/stop.h"
#include "model/plan/restart.h"

static int start(struct fake_desk *desk, enum start_kind kind, bool *ret_already, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	int r = lifecycle_start(&desk->deck, FAKE_ID, &(struct lifecycle_order){ .kind = kind },
				&started, err);
	if (r == 0)
		*ret_already = started.already;
	return r;
}

static void assert_starts(struct fake_desk *desk, enum start_kind kind, bool expected_already)
{
	struct error err = { 0 };
	bool already = !expected_already;
	if (start(desk, kind, &already, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	assert_int_equal(already, expected_already);
}

static void assert_refused(struct fake_desk *desk, enum start_kind kind, enum error_code code)
{
	cleanup_error struct error err = { 0 };
	bool already;
	assert_int_equal(start(desk, kind, &already, &err), -1);
	assert_int_equal(err.code, code);
}

/* What the manifest says at one step, seen from outside. */
struct glance {
	const struct fake_desk *desk;
	enum fake_step step;
	enum instance_state state;
	enum instance_desired desired;
	size_t attempts;
	bool has_run;
	unsigned count;
};

static void look(enum fake_step step, void *context)
{
	struct glance *glance = context;
	if (step != glance->step)
		return;
	cleanup_instance struct instance *now = fake_load(glance->desk);
	glance->state = now->observed.state;
	glance->desired = now->desired;
	glance->attempts = now->run.attempt_count;
	glance->has_run = now->run.socket;
	glance->count++;
}

static void look_at(struct glance *glance, const struct fake_desk *desk, enum fake_step step)
{
	*glance = (struct glance){ .desk = desk, .step = step };
	fake.hook = look;
	fake.context = glance;
}

/* ---- start ------------------------------------------------------------------------------------ */

static void the_intent_is_saved_before_the_launch(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	struct glance glance;
	fake_put(desk, instance);
	look_at(&glance, desk, FAKE_LAUNCH);
	assert_starts(desk, START_UNLESS_RUNNING, false);
	assert_int_equal(glance.count, 1);
	assert_int_equal(glance.state, STATE_STARTING);
	assert_int_equal(glance.desired, DESIRED_RUNNING);
	assert_true(glance.attempts > 0);
	assert_true(glance.has_run);
	fake_assert_steps("prepare launch");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->run.server.pid, getpid());
}

/* The agent runs, and only its window was closed: a start starts no second one. */
static void a_start_opens_a_window_that_was_closed(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	fake.lacks_window = true;
	assert_starts(desk, START_UNLESS_RUNNING, true);
	fake_assert_steps("open-window");
	assert_starts(desk, START_UNLESS_RUNNING, true);
	fake_assert_steps("open-window");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_string_equal(after->run.id, "run-1");
}

/* A start was killed when its container ran: no pane is there that would say how an agent ended. */
static void a_start_waits_for_no_verdict_of_a_window_that_is_missing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STARTING;
	instance->run.server = instance->run.pane = (struct process_id){ 0 };
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	fake.lacks_window = fake.lacks_agent = true;
	assert_starts(desk, START_UNLESS_RUNNING, true);
	fake_assert_steps("open-window");
}

static void a_window_that_cannot_be_opened_ends_nothing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	fake.lacks_window = true;
	fake.fails = FAKE_WINDOW;
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_CHILD);
	fake_assert_steps("open-window");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void nothing_is_written_before_the_run_is_planned(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	struct glance glance;
	fake_put(desk, instance);
	look_at(&glance, desk, FAKE_PREPARE);
	fake.fails = FAKE_PREPARE;
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_CHILD);
	assert_int_equal(glance.state, STATE_STOPPED);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
	assert_int_equal(after->desired, DESIRED_STOPPED);
	assert_null(after->run.id);
}

static void a_launch_that_fails_is_an_error_with_its_reason(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	fake_put(desk, instance);
	fake.fails = FAKE_LAUNCH;
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_CHILD);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, "the fake fails");
	assert_null(after->run.id);
	/* The first launch, with its prompt, is still to come. */
	assert_int_equal(after->last_used_at, 0);
}

static void what_a_path_lacks_is_said_before_anything_is_made(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	fake_put(desk, instance);
	fake.fails = FAKE_PATH;
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_UNAVAILABLE);
	fake_assert_steps("");
}

/* Its agent has taken the conversation to its background, where it still runs. */
#define CONVERSATION "11111111-1111-4111-8111-111111111111"

/* A take-over was killed before it ended the process, which still lives. */
static void put_taken(const struct fake_desk *desk, const char *session_id)
{
	struct process_id self;
	cleanup_instance struct instance *instance = fake_instance(desk);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	conversation_set_id(&instance->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	instance->last_used_at = 1000;
	instance->conversation.first_turn_seen = true;
	taken_set(&instance->taken, &self, 1, session_id);
	fake_put(desk, instance);
}

static int start_afresh(struct fake_desk *desk)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_error struct error err = { 0 };
	const int r = lifecycle_start(&desk->deck, FAKE_ID,
				      &(struct lifecycle_order){ .wish = START_FRESH }, &started,
				      &err);
	if (r != 0)
		fail_msg("%s", or_empty(err.message));
	return r;
}

static void a_process_with_the_conversation_is_not_forgotten(void **state)
{
	struct fake_desk *desk = *state;
	put_taken(desk, CONVERSATION);
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_EXISTS);
	fake_assert_steps("prepare end");
	assert_int_equal(start_afresh(desk), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->taken.processes[0].pid, getpid());
}

static void a_process_with_another_conversation_stops_no_start(void **state)
{
	struct fake_desk *desk = *state;
	put_taken(desk, "22222222-2222-4222-8222-222222222222");
	assert_starts(desk, START_UNLESS_RUNNING, false);
}

static void a_process_with_an_unknown_conversation_may_have_it(void **state)
{
	struct fake_desk *desk = *state;
	put_taken(desk, NULL);
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_EXISTS);
}

/* A take-over has failed: give it up.  Returns what the error says then; the caller frees. */
static char *give_up(struct fake_desk *desk, uint64_t later)
{
	struct adopt_find find = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = fake_load(desk);
	assert_int_equal(process_identify(getpid(), &find.process, NULL), 0);
	find.process.start += later;
	(void)error_set(&err, ERROR_TIMEOUT, "it does not end");
	assert_int_equal(adopt_give_up(&desk->deck, &find, instance, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	return xstrdup(err.message);
}

static void a_take_over_that_failed_leaves_no_session_beside_its_agent(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *left = NULL;
	put_taken(desk, CONVERSATION);
	cleanup_free char *said = give_up(desk, 0);
	assert_string_equal(said, "it does not end");
	assert_int_equal(store_load(desk->deck.store, FAKE_ID, &left, NULL), STORE_ABSENT);
}

/* Then nobody else has the conversation any more. */
static void a_take_over_that_failed_keeps_the_session_of_an_agent_that_ended(void **state)
{
	struct fake_desk *desk = *state;
	put_taken(desk, CONVERSATION);
	cleanup_free char *said = give_up(desk, 1);
	cleanup_instance struct instance *left = fake_load(desk);
	cleanup_free char *expected = xasprintf(
		"process %d has ended, and session '%s' is stopped: it does not end", (int)getpid(),
		left->title);
	assert_string_equal(said, expected);
	assert_string_equal(left->conversation.session_id, CONVERSATION);
}

/* The home is shared. */
static void a_process_of_another_machine_may_live(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_instance struct instance *instance = fake_instance(desk);
	conversation_set_id(&instance->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	taken_set(&instance->taken, &(struct process_id){ .pid = 1, .start = 1 }, 1, CONVERSATION);
	replace_string(&instance->taken.boot_id, "11111111-2222-4333-8444-555555555555");
	replace_string(&instance->taken.machine_id, "11111111-0000-4000-8000-000000000000");
	fake_put(desk, instance);
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_EXISTS);
	assert_int_equal(lifecycle_start(&desk->deck, FAKE_ID,
					 &(struct lifecycle_order){ .takes_over = true }, &started,
					 NULL),
			 0);
	assert_false(started.already);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal((int)after->taken.count, 0);
}

static void put_background(const struct fake_desk *desk)
{
	cleanup_instance struct instance *instance = fake_instance(desk);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_ERROR;
	instance->last_used_at = 1000;
	replace_string(&instance->observed.boot_id, process_boot_id());
	restart_hold(instance, HOLD_BACKGROUND, "in the background of claude: backgrounded");
	fake_put(desk, instance);
	fake.survivors = "1 process is still in its scope";
}

static void a_background_process_is_not_ended_by_a_start(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_error struct error err = { 0 };
	bool already;
	put_background(desk);
	assert_int_equal(start(desk, START_UNLESS_RUNNING, &already, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_string_equal(err.message,
			    "deck was not started: it is in the background of claude: "
			    "backgrounded; 1 process is still in its scope: end the background "
			    "agent there, or end it with agentdeck session stop deck");
	fake_assert_steps("");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.hold, HOLD_BACKGROUND);
	/* Whoever asks for a restart asks for the end of what runs. */
	assert_starts(desk, START_AFTER_STOP, false);
	fake_assert_steps("end-unknown prepare launch");
}

static void what_runs_is_left_alone(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	assert_starts(desk, START_UNLESS_RUNNING, true);
	fake_assert_steps("");
}

static void unknown_is_never_taken_for_dead(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.presence = PRESENCE_UNKNOWN;
	assert_refused(desk, START_UNLESS_RUNNING, ERROR_TIMEOUT);
	fake_assert_steps("");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_string_equal(after->run.id, "run-1");
}

static void what_is_gone_is_cleared_and_started(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->run.server.start = instance->run.pane.start = 1;
	fake_put(desk, instance);
	fake.presence = PRESENCE_NONE;
	assert_starts(desk, START_UNLESS_RUNNING, false);
	fake_assert_steps("end prepare launch");
	assert_int_equal(fake.grace_ms, 0);
}

static void a_shell_in_the_agents_place_is_replaced(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->run.attempt = 2;
	instance->observed.state = STATE_ERROR;
	fake_put(desk, instance);
	assert_starts(desk, START_UNLESS_RUNNING, false);
	fake_assert_steps("probe end prepare launch");
}

static void a_start_that_was_cut_off_is_found_alive(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STARTING;
	instance->run.server = instance->run.pane = (struct process_id){ 0 };
	fake_put(desk, instance);
	assert_starts(desk, START_UNLESS_RUNNING, true);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->run.server.pid, getpid());
}

/* ---- stop ------------------------------------------------------------------------------------- */

static void a_stop_writes_its_wish_before_it_ends_anything(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	struct glance glance;
	bool was_running = false;
	fake_put(desk, instance);
	look_at(&glance, desk, FAKE_END);
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
					&was_running, NULL),
			 0);
	assert_true(was_running);
	assert_int_equal(glance.state, STATE_STOPPING);
	assert_int_equal(glance.desired, DESIRED_STOPPED);
	assert_true(fake.grace_ms > 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
	assert_null(after->run.id);
}

static void a_stop_of_what_is_gone_ends_what_it_left(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	bool was_running = true;
	instance->run.server.start = 1;
	fake_put(desk, instance);
	fake.presence = PRESENCE_NONE;
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
					&was_running, NULL),
			 0);
	assert_false(was_running);
	fake_assert_steps("end");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
}

static void a_stop_without_a_run_looks_for_what_nobody_knows(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	bool was_running = true;
	instance->last_used_at = 1000;
	fake_put(desk, instance);
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
					&was_running, NULL),
			 0);
	assert_false(was_running);
	fake_assert_steps("end-unknown");
}

/* Its user has agreed to the end of that run, and of no other. */
static void a_stop_of_a_run_that_was_shown_ends_no_other_one(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = fake_running(desk);
	const struct lifecycle_seen now = { instance->run.server, instance->run.pane };
	struct lifecycle_seen before[] = { now, now, { { 0 }, { 0 } } };
	bool was_running = false;
	before[0].server.start++;
	before[1].pane.pid++;
	fake_put(desk, instance);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID,
						&(struct stop_order){ .seen = &before[i] },
						&was_running, &err),
				 -1);
		assert_int_equal(err.code, ERROR_INVALID);
		error_clear(&err);
	}
	fake_assert_steps("");
	cleanup_instance struct instance *between = fake_load(desk);
	assert_int_equal(between->observed.state, STATE_RUNNING);
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ .seen = &now },
					&was_running, NULL),
			 0);
	assert_true(was_running);
}

static void a_stop_that_fails_stays_to_be_finished(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	bool was_running;
	fake_put(desk, instance);
	fake.fails = FAKE_END;
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
					&was_running, NULL),
			 -1);
	cleanup_instance struct instance *between = fake_load(desk);
	assert_int_equal(between->observed.state, STATE_STOPPING);
	assert_string_equal(between->run.id, "run-1");
	fake.fails = FAKE_NONE;
	assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
					&was_running, NULL),
			 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
}

/* ---- restart ---------------------------------------------------------------------------------- */

static void a_restart_is_tried_before_the_old_run_ends(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	struct glance glance;
	fake_put(desk, instance);
	look_at(&glance, desk, FAKE_END);
	assert_starts(desk, START_AFTER_STOP, false);
	fake_assert_steps("probe end prepare launch");
	/* One wish: it is to run all the time. */
	assert_int_equal(glance.state, STATE_STOPPING);
	assert_int_equal(glance.desired, DESIRED_RUNNING);
}

static void a_restart_that_cannot_start_ends_nothing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.fails = FAKE_PROBE;
	assert_refused(desk, START_AFTER_STOP, ERROR_CHILD);
	fake_assert_steps("probe");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_string_equal(after->run.id, "run-1");
}

static void die_at(enum fake_step step, void *context)
{
	if (step == *(const enum fake_step *)context)
		_exit(0);
}

/* Somebody kills the command at this step. */
static void cut(struct fake_desk *desk, enum start_kind kind, enum fake_step at)
{
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		bool already;
		fake.hook = die_at;
		fake.context = &at;
		(void)start(desk, kind, &already, NULL);
		_exit(1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_restart_that_is_cut_in_two_is_finished_by_a_start(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	cut(desk, START_AFTER_STOP, FAKE_PREPARE);
	fake.presence = PRESENCE_NONE;
	cleanup_instance struct instance *between = fake_load(desk);
	assert_int_equal(between->observed.state, STATE_STOPPING);
	assert_int_equal(between->desired, DESIRED_RUNNING);
	/* A listing in between makes no stop of it. */
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	assert_int_equal(roster_count(roster), 1);
	cleanup_instance struct instance *listed = fake_load(desk);
	assert_int_equal(listed->observed.state, STATE_STOPPING);
	assert_starts(desk, START_UNLESS_RUNNING, false);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void a_start_that_is_cut_at_any_step_is_begun_again(void **state)
{
	static const enum fake_step steps[] = { FAKE_PREPARE, FAKE_LAUNCH };
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	fake_put(desk, instance);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		bool was_running;
		cut(desk, START_UNLESS_RUNNING, steps[i]);
		assert_starts(desk, START_UNLESS_RUNNING, false);
		cleanup_instance struct instance *after = fake_load(desk);
		assert_int_equal(after->observed.state, STATE_RUNNING);
		assert_int_equal(lifecycle_stop(&desk->deck, FAKE_ID, &(struct stop_order){ 0 },
						&was_running, NULL),
				 0);
	}
}

static void a_start_that_is_cut_after_its_launch_is_not_made_twice(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	fake_put(desk, instance);
	cut(desk, START_UNLESS_RUNNING, FAKE_NONE);
	fake.presence = PRESENCE_ALIVE;
	cleanup_instance struct instance *between = fake_load(desk);
	assert_int_equal(between->observed.state, STATE_STARTING);
	assert_starts(desk, START_UNLESS_RUNNING, true);
	fake_assert_steps("");
}

/* ---- the rest --------------------------------------------------------------------------------- */

static void a_wait_notices_that_the_server_was_killed(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	fake_put(desk, instance);
	assert_int_equal(lifecycle_start(&desk->deck, FAKE_ID, &(struct lifecycle_order){ 0 },
					 &started, NULL),
			 0);
	fake.presence = PRESENCE_NONE;
	assert_int_equal(lifecycle_wait(&desk->deck, &started, NULL, NULL), 0);
	assert_int_equal(started.outcome, OUTCOME_ENDED);
	assert_string_equal(started.instance->observed.reason, "its tmux server was killed");
}

static void a_silent_run_is_listed_as_unknown(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.presence = PRESENCE_UNKNOWN;
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	const struct view *view = &roster_at(roster, 0)->view;
	assert_string_equal(view_status(view), "unknown");
	assert_string_equal(view->reason, "the fake says so");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void limits_tell_when_they_hold(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	const struct limit_change change = { .reset = true };
	enum limit_effect effect;
	fake_put(desk, instance);
	fake.limits = LIMIT_EFFECT_NEXT_SCOPE;
	cleanup_instance struct instance *changed = NULL;
	assert_int_equal(
		lifecycle_set_limits(&desk->deck, FAKE_ID, &change, &effect, &changed, NULL), 0);
	assert_int_equal(effect, LIMIT_EFFECT_NEXT_SCOPE);
	fake.presence = PRESENCE_NONE;
	instance_free(TAKE_PTR(changed));
	assert_int_equal(
		lifecycle_set_limits(&desk->deck, FAKE_ID, &change, &effect, &changed, NULL), 0);
	assert_int_equal(effect, LIMIT_EFFECT_NEXT_START);
}

static int remove_as(struct fake_desk *desk, const char *base, enum removal how, struct error *err)
{
	const struct removal_order order = { .how = how };
	return lifecycle_remove(&desk->deck, base, &order, err);
}

static int purge(struct fake_desk *desk, struct error *err)
{
	const struct removal_order order = { .how = REMOVE_ANYWAY };
	return lifecycle_purge(&desk->deck, FAKE_ID, &order, err);
}

static void a_removal_ends_the_run_first(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk), *after = NULL;
	fake_put(desk, instance);
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_STOPPED, NULL), -1);
	cleanup_instance struct instance *running = fake_load(desk);
	assert_int_equal(running->observed.state, STATE_RUNNING);
	fake.fails = FAKE_END;
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_ANYWAY, NULL), -1);
	cleanup_instance struct instance *kept = fake_load(desk);
	assert_string_equal(kept->run.id, "run-1");
	fake.fails = FAKE_NONE;
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_ANYWAY, NULL), 0);
	assert_int_equal(store_load(desk->deck.store, FAKE_ID, &after, NULL), STORE_ABSENT);
}

/* Nor where nobody can say whether it still runs. */
static void a_background_process_is_ended_by_no_removal_without_force(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *after = NULL;
	put_background(desk);
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_STOPPED, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_string_equal(err.message,
			    "deck was not removed: it is in the background of claude: "
			    "backgrounded; 1 process is still in its scope: end the background "
			    "agent there, or end it with agentdeck session stop deck, or use "
			    "--force, which ends it");
	fake.fails = FAKE_SURVIVORS;
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_STOPPED, NULL), -1);
	fake_assert_steps("");
	fake.fails = FAKE_NONE;
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_ANYWAY, NULL), 0);
	fake_assert_steps("end-unknown discard");
	assert_int_equal(store_load(desk->deck.store, FAKE_ID, &after, NULL), STORE_ABSENT);
}

static void a_background_that_has_ended_needs_no_force(void **state)
{
	struct fake_desk *desk = *state;
	put_background(desk);
	fake.survivors = NULL;
	assert_int_equal(remove_as(desk, FAKE_ID, REMOVE_STOPPED, NULL), 0);
}

/* ---- purge ------------------------------------------------------------------------------------ */

static void assert_kept(struct fake_desk *desk, const char *why, const char *steps)
{
	cleanup_error struct error err = { 0 };
	strvec_clear(&fake.steps);
	assert_int_equal(purge(desk, &err), -1);
	assert_non_null(strstr(err.message, why));
	fake_assert_steps(steps);
	cleanup_instance struct instance *running = fake_load(desk);
	assert_int_equal(running->observed.state, STATE_RUNNING);
	assert_string_equal(running->run.id, "run-1");
}

/* What it cannot delete it does not stop. */
static void a_purge_refuses_before_it_ends_anything(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk), *after = NULL;
	fake_put(desk, instance);
	fake.fails = FAKE_CHECK_DISCARD;
	assert_kept(desk, "the fake fails", "check-discard");
	fake.fails = FAKE_NONE;
	const int profile = store_profile_directory(desk->deck.store);
	assert_int_equal(mkdirat(profile, FAKE_ID "/notes", 0700), 0);
	assert_kept(desk, "notes, which is not agentdeck's", "check-discard");
	assert_int_equal(unlinkat(profile, FAKE_ID "/notes", AT_REMOVEDIR), 0);
	strvec_clear(&fake.steps);
	assert_int_equal(purge(desk, NULL), 0);
	fake_assert_steps("check-discard end discard");
	assert_int_equal(store_load(desk->deck.store, FAKE_ID, &after, NULL), STORE_ABSENT);
}

/* ---- an id that is not the base --------------------------------------------------------------- */

#define BASE "ad-" FAKE_ID "-api"

static struct instance *of_other_base(const struct fake_desk *desk)
{
	struct instance *instance = fake_instance(desk);
	replace_string(&instance->base, BASE);
	return instance;
}

static struct instance *load_base(const struct fake_desk *desk)
{
	struct instance *instance = NULL;
	assert_int_equal(store_load(desk->deck.store, BASE, &instance, NULL), 0);
	assert_string_equal(instance->id, FAKE_ID);
	assert_string_equal(instance->base, BASE);
	return instance;
}

static void an_id_need_not_be_the_base(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = of_other_base(desk);
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	struct error err = { 0 };
	bool was_running;
	fake_put(desk, instance);
	if (lifecycle_start(&desk->deck, BASE, &(struct lifecycle_order){ 0 }, &started, &err) < 0)
		fail_msg("%s", or_empty(err.message));
	assert_string_equal(started.instance->id, FAKE_ID);
	cleanup_instance struct instance *running = load_base(desk);
	assert_int_equal(running->observed.state, STATE_RUNNING);
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	const struct store_row *row = &roster_at(roster, 0)->row;
	assert_string_equal(row->id, FAKE_ID);
	assert_string_equal(row->base, BASE);
	assert_true(place_is_live(&row->run));
	assert_int_equal(lifecycle_stop(&desk->deck, BASE, &(struct stop_order){ 0 }, &was_running,
					NULL),
			 0);
	assert_true(was_running);
	assert_int_equal(remove_as(desk, BASE, REMOVE_ANYWAY, NULL), 0);
}

static void a_run_hands_on_both_names(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = of_other_base(desk);
	cleanup_strvec struct strvec environment = { 0 };
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	instance->run.id = xstrdup("run-1");
	instance->run.directory = path_join(desk->root, "run/" FAKE_ID);
	environment_build(&desk->deck, instance, agent, &environment);
	assert_true(strvec_contains(&environment, ENV_INSTANCE "=" FAKE_ID));
	assert_true(strvec_contains(&environment, ENV_BASE "=" BASE));
	/* The agent's hook is told which manifest its reports are for. */
	assert_int_equal(runfiles_write(&desk->deck, instance, agent, NULL), 0);
	cleanup_free char *path = runfiles_settings(instance);
	cleanup_strbuf struct strbuf settings = { 0 };
	assert_non_null(path);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &settings, NULL), 0);
	assert_non_null(strstr(strbuf_text(&settings), "--instance " BASE));
}

static bool has_variable(const struct strvec *environment, const char *name)
{
	for (size_t i = 0; i < environment->count; i++)
		if (starts_with(environment->items[i], name) &&
		    environment->items[i][strlen(name)] == '=')
			return true;
	return false;
}

/* Its hooks would act, and its commands would take our session for one of theirs. */
static void a_run_has_no_variable_of_agent_deck(void **state)
{
	static const char *const theirs[] = { ENV_SHARED_INSTANCE, ENV_PROFILE,
					      "AGENTDECK_SESSION_ID", "CLAUDE_SESSION_ID" };
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = of_other_base(desk);
	cleanup_strvec struct strvec environment = { 0 };
	const struct agent *agent;
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		assert_int_equal(setenv(theirs[i], "409a6ace-1795308038", 1), 0);
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	instance->run.id = xstrdup("run-1");
	instance->run.directory = path_join(desk->root, "run/" FAKE_ID);
	environment_build(&desk->deck, instance, agent, &environment);
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++) {
		assert_int_equal(unsetenv(theirs[i]), 0);
		if (has_variable(&environment, theirs[i]))
			fail_msg("it has %s", theirs[i]);
	}
	assert_true(has_variable(&environment, ENV_INSTANCE_PROFILE));
}

static void what_is_damaged_is_ended_by_its_id(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = of_other_base(desk);
	fake_put(desk, instance);
	assert_int_equal(fs_replace(store_profile_directory(desk->deck.store),
				    BASE "/instance.json", "{", 1, FS_VOLATILE, NULL),
			 0);
	assert_int_equal(remove_as(desk, BASE, REMOVE_DAMAGED, NULL), 0);
	fake_assert_steps("end-unknown");
	assert_string_equal(fake.left, FAKE_ID);
}

/* ---- another agent ---------------------------------------------------------------------------- */

static void assert_agent(const struct fake_desk *desk, const char *expected)
{
	cleanup_instance struct instance *after = fake_load(desk);
	assert_string_equal(after->agent, expected);
}

static int set_codex(struct fake_desk *desk)
{
	cleanup_setting struct setting setting = { .field = SETTING_AGENT,
						   .value = "codex",
						   .drops_conversation = true };
	return lifecycle_set(&desk->deck, FAKE_ID, &setting, NULL);
}

/* Its tmux server was killed, and the agent that outlived it could not be found later. */
static void a_dropped_conversation_has_no_process_left(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->desired = DESIRED_STOPPED;
	instance->observed.state = STATE_STOPPED;
	fake_put(desk, instance);
	fake.presence = PRESENCE_NONE;
	fake.fails = FAKE_END;
	assert_int_equal(set_codex(desk), -1);
	assert_agent(desk, "claude");
	fake.fails = FAKE_NONE;
	strvec_clear(&fake.steps);
	assert_int_equal(set_codex(desk), 0);
	assert_agent(desk, "codex");
	fake_assert_steps("end");
}

static void a_dropped_conversation_without_a_run_has_none_either(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	instance->last_used_at = 1000;
	fake_put(desk, instance);
	assert_int_equal(set_codex(desk), 0);
	assert_agent(desk, "codex");
	fake_assert_steps("end-unknown");
}

/* ---- a group ---------------------------------------------------------------------------------- */

static void make_in_group(const struct fake_desk *desk, const char *id, const char *title)
{
	cleanup_instance struct instance *instance = new_instance(id, title);
	replace_string(&instance->backend, "fake");
	replace_string(&instance->group, "work");
	fake_put(desk, instance);
}

/* In another process: hold "b" until "a" is moved, then remove it. */
static void remove_meanwhile(const struct fake_desk *desk, int ready)
{
	cleanup_store struct store *store = NULL;
	cleanup_store_watch struct store_watch *watch = NULL;
	struct store_lock *lock = NULL;
	const int64_t deadline_ms = clock_ms() + LONG_MS;
	if (deck_open_profile(&desk->deck, "default", &store, NULL) < 0 ||
	    store_lock(store, "0123abce", deadline_ms, &lock, NULL) != 0 ||
	    store_watch_open(store, "0123abcd", NULL, &watch, NULL) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	_exit(store_watch_wait(watch, deadline_ms, NULL) != 0 || store_remove(lock, NULL) < 0);
}

static void a_group_moves_without_what_is_removed_meanwhile(void **state)
{
	struct fake_desk *desk = *state;
	struct error err = { 0 };
	int ready[2], status = -1;
	size_t count = 0;
	char byte;
	make_in_group(desk, "0123abcd", "a");
	make_in_group(desk, "0123abce", "b");
	make_in_group(desk, "0123abcf", "c");
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		remove_meanwhile(desk, ready[1]);
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (lifecycle_move_group(&desk->deck, "work", "job", &count, &err) < 0)
		fail_msg("%s", or_empty(err.message));
	assert_int_equal(count, 2);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(ready[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(the_intent_is_saved_before_the_launch),
		FAKE_TEST(a_start_opens_a_window_that_was_closed),
		FAKE_TEST(a_start_waits_for_no_verdict_of_a_window_that_is_missing),
		FAKE_TEST(a_window_that_cannot_be_opened_ends_nothing),
		FAKE_TEST(nothing_is_written_before_the_run_is_planned),
		FAKE_TEST(a_launch_that_fails_is_an_error_with_its_reason),
		FAKE_TEST(what_a_path_lacks_is_said_before_anything_is_made),
		FAKE_TEST(a_process_with_the_conversation_is_not_forgotten),
		FAKE_TEST(a_process_with_another_conversation_stops_no_start),
		FAKE_TEST(a_process_with_an_unknown_conversation_may_have_it),
		FAKE_TEST(a_take_over_that_failed_leaves_no_session_beside_its_agent),
		FAKE_TEST(a_take_over_that_failed_keeps_the_session_of_an_agent_that_ended),
		FAKE_TEST(a_process_of_another_machine_may_live),
		FAKE_TEST(a_background_process_is_not_ended_by_a_start),
		FAKE_TEST(what_runs_is_left_alone),
		FAKE_TEST(unknown_is_never_taken_for_dead),
		FAKE_TEST(what_is_gone_is_cleared_and_started),
		FAKE_TEST(a_shell_in_the_agents_place_is_replaced),
		FAKE_TEST(a_start_that_was_cut_off_is_found_alive),
		FAKE_TEST(a_stop_writes_its_wish_before_it_ends_anything),
		FAKE_TEST(a_stop_of_what_is_gone_ends_what_it_left),
		FAKE_TEST(a_stop_without_a_run_looks_for_what_nobody_knows),
		FAKE_TEST(a_stop_of_a_run_that_was_shown_ends_no_other_one),
		FAKE_TEST(a_stop_that_fails_stays_to_be_finished),
		FAKE_TEST(a_restart_is_tried_before_the_old_run_ends),
		FAKE_TEST(a_restart_that_cannot_start_ends_nothing),
		FAKE_TEST(a_restart_that_is_cut_in_two_is_finished_by_a_start),
		FAKE_TEST(a_start_that_is_cut_at_any_step_is_begun_again),
		FAKE_TEST(a_start_that_is_cut_after_its_launch_is_not_made_twice),
		FAKE_TEST(a_wait_notices_that_the_server_was_killed),
		FAKE_TEST(a_silent_run_is_listed_as_unknown),
		FAKE_TEST(limits_tell_when_they_hold),
		FAKE_TEST(a_removal_ends_the_run_first),
		FAKE_TEST(a_background_process_is_ended_by_no_removal_without_force),
		FAKE_TEST(a_background_that_has_ended_needs_no_force),
		FAKE_TEST(a_purge_refuses_before_it_ends_anything),
		FAKE_TEST(an_id_need_not_be_the_base),
		FAKE_TEST(a_run_hands_on_both_names),
		FAKE_TEST(a_run_has_no_variable_of_agent_deck),
		FAKE_TEST(what_is_damaged_is_ended_by_its_id),
		FAKE_TEST(a_dropped_conversation_has_no_process_left),
		FAKE_TEST(a_dropped_conversation_without_a_run_has_none_either),
		FAKE_TEST(a_group_moves_without_what_is_removed_meanwhile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
