/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the supervisor does about one session.  Pure: what is known goes in, the decision comes out.
 */
#pragma once

#include "model/session/instance.h"
#include "model/settings/settings.h"

enum supervise_cause {
	CAUSE_CHANGED, /* its manifest or its processes: everything is decided again */
	CAUSE_DUE,     /* the delay of an earlier decision is over, and nothing has changed since */
	CAUSE_NUDGED,  /* its server was made to look for the end of its agent */
};

struct supervise_facts {
	/* NULL: it runs, or it is to rest and does */
	const struct instance *instance;
	bool is_live;          /* its tmux server lives */
	bool is_between;       /* ... and its agent does not (place_is_between()) */
	bool lacks_window;     /* ... and nothing shows it (place_lacks_window()) */
	bool is_elsewhere;     /* its run is another machine's */
	bool lost_manager;     /* its run ended with its user manager (isolation_lost_manager()) */
	bool is_working;       /* a command of ours is at work on it */
	unsigned failures;     /* of such commands, one after the other */
	int64_t not_before_ms; /* of clock_ms(): the earliest next try */
};

enum supervise_act {
	ACT_KEEP,   /* what was decided before still holds */
	ACT_NONE,   /* until something changes */
	ACT_WAIT,   /* for delay_ms: then decide with CAUSE_DUE */
	ACT_REVIVE, /* start `agentdeck revive` */
};

struct supervise_decision {
	enum supervise_act act;
	int64_t delay_ms;
	bool unless_locked;   /* ACT_REVIVE, if its lock is free; else ask again soon */
	bool forget_failures; /* it lives: what failed before says nothing of what comes */
	bool is_left;         /* it is to run, and is not restarted automatically */
	bool is_planned;      /* the restart policy says when */
};

struct supervise_decision supervise_decide(const struct supervise_facts *facts,
					   enum supervise_cause cause,
					   const struct settings *settings, int64_t now_ms,
					   int64_t now_us);

/* From one look at a start or a stop by another process to the next. */
enum { SUPERVISE_INTENT_MS = 500, SUPERVISE_RETRY_MOST_MS = 60000 };

/* Exponential backoff: no event tells when the obstacle is gone, so the delay doubles with each
 * failure after the first, up to most_ms. */
int64_t supervise_patience_ms(unsigned failures, int64_t first_ms, int64_t most_ms);
