/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the state of an instance changes: one table, event x phase -> what becomes of it.
 *
 * A phase is the stored state, but for "stopping", which is two: a session that is to run
 * afterwards is restarting.  What the table does not allow is refused, and changes nothing.
 *
 * Pure: engine/deck/transition.h is the door through which the engine changes a state, stamps it,
 * saves it and logs it.
 */
#pragma once

#include "model/session/instance.h"

enum state_phase {
	PHASE_STOPPED,
	PHASE_STARTING,
	PHASE_RUNNING,
	PHASE_STOPPING,   /* to be stopped */
	PHASE_RESTARTING, /* the old run is being ended, or has ended; a start follows */
	PHASE_ERROR,
	PHASE_COUNT
};

/* What happened. */
enum state_event {
	EVENT_START_WANTED,   /* a new run is planned, and is about to be made */
	EVENT_STARTED,        /* ... and was made */
	EVENT_START_FAILED,   /* ... and could not be made */
	EVENT_SEEN_ALIVE,     /* a look found the run alive, whatever is stored */
	EVENT_STOP_WANTED,    /* the run is about to be ended */
	EVENT_SLEEP_WANTED,   /* the same, until its user wants it again */
	EVENT_RESTART_WANTED, /* the same, and a start is to follow */
	EVENT_STOPPED,        /* nothing of the run is left, as its user wanted */
	/* the start of a restart failed, and its user has the error */
	EVENT_RESTART_GIVEN_UP,
	EVENT_QUIT,        /* the agent ended as its user wanted, and stays ended */
	EVENT_COMPLETED,   /* the same, but its restart policy wants it to run ("always") */
	EVENT_FAILED,      /* the agent failed or was killed; its pane saw it */
	EVENT_SHELL,       /* the agent does not start, and its pane becomes a shell */
	EVENT_LOST,        /* a look found the run gone: killed, or the machine was restarted */
	EVENT_HELD,        /* it ended too often, and is not restarted any more */
	EVENT_NOT_REVIVED, /* it could not be started again, by the supervisor or recover */
	/* the same, while a restart that was cut off has not ended its run yet */
	EVENT_RESTART_PENDING,
	EVENT_UNDECIDED, /* its user is to say what becomes of what it has left */
	EVENT_DECIDED,   /* that is settled */
	EVENT_COPIED,    /* its manifest is a copy of another instance's */
	EVENT_COUNT
};

enum state_verdict {
	STATE_REFUSED,   /* the event cannot happen in this phase */
	STATE_UNCHANGED, /* it can, and changes nothing */
	STATE_CHANGED,   /* the state, or only its reason and time: see the cell */
};

/* What else a change does. */
enum state_effect {
	EFFECT_CLEAR_RUN = 1 << 0,
	EFFECT_FORGET_EXIT = 1 << 1, /* how the last agent ended does not count any more */
	EFFECT_WANT_RUNNING = 1 << 2,
	EFFECT_WANT_STOPPED = 1 << 3,
	EFFECT_NO_REASON = 1 << 4, /* as the user wanted it: there is nothing to explain */
	EFFECT_NO_STAMP = 1 << 5,  /* nothing happened now, or here */
	EFFECT_WANT_ASLEEP = 1 << 6,
};

struct state_cell {
	enum state_verdict verdict;
	enum instance_state next; /* of STATE_CHANGED */
	unsigned effects;         /* of STATE_CHANGED: enum state_effect */
};

enum state_phase state_phase(enum instance_state state, enum instance_desired desired);
struct state_cell state_look_up(enum state_event event, enum state_phase phase);

/* When and where a state was seen.  Borrowed; NULL: not known. */
struct state_stamp {
	int64_t now_us; /* µs since the Epoch; kept as exactly as it is stored, in ms */
	const char *boot_id, *machine_id, *pid_namespace, *host;
};

/* Make a new instance stopped since this time, without an event. */
void state_begin(struct instance *instance, int64_t now_us);

/* Do to the instance what the table says; reason is for people, may be NULL, and is copied.
 * stamp may be NULL for events whose cells have EFFECT_NO_STAMP.  Only STATE_CHANGED changes the
 * instance. */
enum state_verdict state_apply(struct instance *instance, enum state_event event,
			       const char *reason, const struct state_stamp *stamp);

/* "start wanted", ...; static. */
const char *state_event_name(enum state_event event);

/* The questions that callers ask.  None of them looks at the world: a stored state can be untrue
 * (engine/roster/view.h). */

static inline bool state_is_running(enum instance_state state)
{
	return state == STATE_RUNNING;
}

/* A stop, or the first half of a restart, is under way, or was cut off. */
static inline bool state_is_stopping(enum instance_state state)
{
	return state == STATE_STOPPING;
}

/* Like state_is_stopping(), but for a restart. */
static inline bool state_is_restarting(enum instance_state state, enum instance_desired desired)
{
	return state_phase(state, desired) == PHASE_RESTARTING;
}

/* A process is about to make a run, or was killed in the middle of that. */
static inline bool state_is_starting(enum instance_state state)
{
	return state == STATE_STARTING;
}

/* The session failed, was killed, or could not be started. */
static inline bool state_is_error(enum instance_state state)
{
	return state == STATE_ERROR;
}

/* The session ended as its user wanted: by a stop, which leaves no reason, because the agent quit,
 * or it sleeps. */
static inline bool state_is_at_rest(enum instance_state state, enum instance_desired desired)
{
	return state == STATE_STOPPED && desired != DESIRED_RUNNING;
}

/* Is a run there, by what is stored?  A start that was cut off has one if it wrote down a server.
 */
static inline bool state_has_run(enum instance_state state, bool has_server)
{
	return state == STATE_RUNNING || state == STATE_STOPPING ||
	       (state == STATE_STARTING && has_server);
}
