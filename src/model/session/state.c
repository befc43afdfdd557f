/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/state.h"

#include <assert.h>

#define CHANGE(state, effects) STATE_CHANGED, STATE_##state, (effects)
#define SAME                   STATE_UNCHANGED, 0, 0
#define EVERY(...)                                                                  \
	{                                                                           \
		{ __VA_ARGS__ }, { __VA_ARGS__ }, { __VA_ARGS__ }, { __VA_ARGS__ }, \
			{ __VA_ARGS__ }, { __VA_ARGS__ },                           \
	}

/* A cell that is not here is refused. */
static const struct state_cell cells[EVENT_COUNT][PHASE_COUNT] = {
	/* Whatever was there has been ended by the start, or was found to be gone. */
	[EVENT_START_WANTED] = EVERY(CHANGE(STARTING, EFFECT_WANT_RUNNING | EFFECT_FORGET_EXIT)),
	[EVENT_STARTED] = {
		[PHASE_STARTING] = { CHANGE(RUNNING, 0) },
	},
	[EVENT_START_FAILED] = {
		[PHASE_STARTING] = { CHANGE(ERROR, EFFECT_CLEAR_RUN) },
	},
	/* A session that is about to end is not called running again. */
	[EVENT_SEEN_ALIVE] = {
		[PHASE_STOPPED] = { CHANGE(RUNNING, 0) },
		[PHASE_STARTING] = { CHANGE(RUNNING, 0) },
		[PHASE_RUNNING] = { SAME },
		[PHASE_ERROR] = { CHANGE(RUNNING, 0) },
	},
	[EVENT_STOP_WANTED] = EVERY(CHANGE(STOPPING, EFFECT_WANT_STOPPED)),
	/* In the second phase a sleep that was cut off is finished. */
	[EVENT_SLEEP_WANTED] = {
		[PHASE_RUNNING] = { CHANGE(STOPPING, EFFECT_WANT_ASLEEP) },
		[PHASE_STOPPING] = { CHANGE(STOPPING, EFFECT_WANT_ASLEEP) },
	},
	[EVENT_RESTART_WANTED] = EVERY(CHANGE(STOPPING, EFFECT_WANT_RUNNING)),
	/* What is being stopped has its wish already: it may be to sleep. */
	[EVENT_STOPPED] = {
		[PHASE_STOPPED] = { CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN) },
		[PHASE_STARTING] = { CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN) },
		[PHASE_RUNNING] = { CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN) },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RESTARTING] = { CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN) },
		[PHASE_ERROR] = { CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN) },
	},
	/* The wish to run stays. */
	[EVENT_RESTART_GIVEN_UP] = {
		[PHASE_STOPPED] = { SAME },
		[PHASE_STARTING] = { SAME },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RESTARTING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_ERROR] = { SAME },
	},
	/* However an agent ends: a stop is done with that, and a restart is to be continued.  A
	 * shell in the agent's place ends in PHASE_ERROR. */
	[EVENT_QUIT] = {
		[PHASE_STOPPED] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN | EFFECT_WANT_STOPPED) },
		[PHASE_STARTING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN | EFFECT_WANT_STOPPED) },
		[PHASE_RUNNING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN | EFFECT_WANT_STOPPED) },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RESTARTING] = { CHANGE(STOPPING, EFFECT_CLEAR_RUN) },
		[PHASE_ERROR] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN | EFFECT_WANT_STOPPED) },
	},
	[EVENT_COMPLETED] = {
		[PHASE_STOPPED] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_STARTING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RUNNING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RESTARTING] = { CHANGE(STOPPING, EFFECT_CLEAR_RUN) },
		[PHASE_ERROR] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
	},
	[EVENT_FAILED] = {
		[PHASE_STOPPED] = { CHANGE(ERROR, EFFECT_CLEAR_RUN) },
		[PHASE_STARTING] = { CHANGE(ERROR, EFFECT_CLEAR_RUN) },
		[PHASE_RUNNING] = { CHANGE(ERROR, EFFECT_CLEAR_RUN) },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_CLEAR_RUN) },
		[PHASE_RESTARTING] = { CHANGE(STOPPING, EFFECT_CLEAR_RUN) },
		[PHASE_ERROR] = { CHANGE(ERROR, EFFECT_CLEAR_RUN) },
	},
	[EVENT_SHELL] = {
		[PHASE_STOPPED] = { CHANGE(ERROR, 0) },
		[PHASE_STARTING] = { CHANGE(ERROR, 0) },
		[PHASE_RUNNING] = { CHANGE(ERROR, 0) },
		[PHASE_ERROR] = { CHANGE(ERROR, 0) },
	},
	/* The run stays: the next start ends what it has left behind, and reads its attempts.  The
	 * second half of a restart is still to come, from its command, the supervisor or recover. */
	[EVENT_LOST] = {
		[PHASE_STOPPED] = { SAME },
		[PHASE_STARTING] = { CHANGE(ERROR, 0) },
		[PHASE_RUNNING] = { CHANGE(ERROR, 0) },
		[PHASE_STOPPING] = { CHANGE(STOPPED, EFFECT_NO_REASON) },
		[PHASE_RESTARTING] = { SAME },
		[PHASE_ERROR] = { SAME },
	},
	[EVENT_HELD] = {
		[PHASE_STOPPED] = { CHANGE(ERROR, 0) },
		[PHASE_ERROR] = { CHANGE(ERROR, 0) },
	},
	/* A session that runs was started: only the record of the start failed. */
	[EVENT_NOT_REVIVED] = {
		[PHASE_STOPPED] = { CHANGE(ERROR, 0) },
		[PHASE_STARTING] = { CHANGE(ERROR, 0) },
		[PHASE_RUNNING] = { SAME },
		[PHASE_RESTARTING] = { CHANGE(ERROR, 0) },
		[PHASE_ERROR] = { CHANGE(ERROR, 0) },
	},
	[EVENT_RESTART_PENDING] = {
		[PHASE_RESTARTING] = { CHANGE(STOPPING, 0) },
	},
	/* The end was at another moment. */
	[EVENT_UNDECIDED] = {
		[PHASE_STOPPED] = { CHANGE(STOPPED, EFFECT_NO_STAMP) },
	},
	[EVENT_DECIDED] = {
		[PHASE_STOPPED] = { CHANGE(STOPPED, EFFECT_NO_STAMP) },
	},
	[EVENT_COPIED] = EVERY(CHANGE(STOPPED, EFFECT_WANT_STOPPED | EFFECT_CLEAR_RUN |
						       EFFECT_NO_REASON | EFFECT_NO_STAMP)),
};

static const char *const event_words[] = {
	[EVENT_START_WANTED] = "start wanted",
	[EVENT_STARTED] = "started",
	[EVENT_START_FAILED] = "start failed",
	[EVENT_SEEN_ALIVE] = "seen alive",
	[EVENT_STOP_WANTED] = "stop wanted",
	[EVENT_SLEEP_WANTED] = "sleep wanted",
	[EVENT_RESTART_WANTED] = "restart wanted",
	[EVENT_STOPPED] = "stopped",
	[EVENT_RESTART_GIVEN_UP] = "restart given up",
	[EVENT_QUIT] = "quit",
	[EVENT_COMPLETED] = "completed",
	[EVENT_FAILED] = "failed",
	[EVENT_SHELL] = "does not start",
	[EVENT_LOST] = "lost",
	[EVENT_HELD] = "held",
	[EVENT_NOT_REVIVED] = "not revived",
	[EVENT_RESTART_PENDING] = "restart pending",
	[EVENT_UNDECIDED] = "undecided",
	[EVENT_DECIDED] = "decided",
	[EVENT_COPIED] = "copied",
};
_Static_assert(ARRAY_SIZE(event_words) == EVENT_COUNT, "an event without a word");

const char *state_event_name(enum state_event event)
{
	assert(event < EVENT_COUNT);
	return event_words[event];
}

enum state_phase state_phase(enum instance_state state, enum instance_desired desired)
{
	switch (state) {
	case STATE_STOPPED:
		return PHASE_STOPPED;
	case STATE_STARTING:
		return PHASE_STARTING;
	case STATE_RUNNING:
		return PHASE_RUNNING;
	case STATE_STOPPING:
		return desired == DESIRED_RUNNING ? PHASE_RESTARTING : PHASE_STOPPING;
	case STATE_ERROR:
	case STATE_COUNT:
		break;
	}
	return PHASE_ERROR;
}

struct state_cell state_look_up(enum state_event event, enum state_phase phase)
{
	assert(event < EVENT_COUNT && phase < PHASE_COUNT);
	return cells[event][phase];
}

static void stamp_state(struct instance *instance, const struct state_stamp *stamp)
{
	/* A wait that depends on it must not change when it is read again. */
	instance->observed.since = stamp->now_us / 1000 * 1000;
	replace_string(&instance->observed.boot_id, stamp->boot_id);
	replace_string(&instance->observed.machine_id, stamp->machine_id);
	replace_string(&instance->observed.pid_namespace, stamp->pid_namespace);
	replace_string(&instance->observed.host, stamp->host);
}

void state_begin(struct instance *instance, int64_t now_us)
{
	instance->desired = DESIRED_STOPPED;
	instance->observed.state = STATE_STOPPED;
	instance->observed.since = now_us;
}

enum state_verdict state_apply(struct instance *instance, enum state_event event,
			       const char *reason, const struct state_stamp *stamp)
{
	const enum state_phase phase = state_phase(instance->observed.state, instance->desired);
	const struct state_cell cell = state_look_up(event, phase);
	if (cell.verdict != STATE_CHANGED)
		return cell.verdict;
	instance->observed.state = cell.next;
	replace_string(&instance->observed.reason, cell.effects & EFFECT_NO_REASON ? NULL : reason);
	if (!(cell.effects & EFFECT_NO_STAMP))
		stamp_state(instance, stamp);
	if (cell.effects & EFFECT_WANT_RUNNING)
		instance->desired = DESIRED_RUNNING;
	/* What was to run, or is now, is in sight. */
	if (instance->desired == DESIRED_RUNNING)
		instance->archived_at = 0;
	if (cell.effects & EFFECT_WANT_STOPPED)
		instance->desired = DESIRED_STOPPED;
	if (cell.effects & EFFECT_WANT_ASLEEP)
		instance->desired = DESIRED_ASLEEP;
	if (cell.effects & EFFECT_FORGET_EXIT)
		instance->observed.exit.present = false;
	if (cell.effects & EFFECT_CLEAR_RUN)
		run_clear(&instance->run);
	return STATE_CHANGED;
}
