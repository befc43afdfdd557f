/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bring an instance back that is to run and does not: after a crash, an incident, a restart of the
 * machine.  The supervisor and `agentdeck recover` do it through here, one process for each
 * (`agentdeck revive`), so that many come back side by side and none can take the others down.
 *
 * A stop always wins: the wish is read under the instance's lock, the same that a stop holds.
 */
#pragma once

#include "base/child.h"
#include "engine/run/start.h"

enum revive_cause {
	/* recover by hand: what is held, or was restarted too often, comes back too */
	REVIVE_BY_USER,
	REVIVE_AUTOMATIC, /* the supervisor: by the restart policy (model/plan/restart.h) */
};

enum revive_mode {
	REVIVE_REALLY,
	REVIVE_TRIAL, /* decide, and change nothing */
};

struct revive_order {
	enum revive_cause cause;
	enum revive_mode mode;
	bool takes_over; /* as in struct lifecycle_order */
};

enum revive_outcome {
	REVIVED,           /* it runs again; instance tells how (run_attempt()) */
	REVIVE_ALIVE,      /* it ran already */
	REVIVE_NOT_WANTED, /* desired is "stopped" (a stop that was interrupted is finished now), or
			      it is not there any more */
	REVIVE_LEFT,   /* its resume policy is "never" (or the master switch is off), or its restart
			  policy leaves it: reason */
	REVIVE_HELD,   /* it is held, perhaps just now: reason */
	REVIVE_LATER,  /* automatically, and not before delay_ms are over */
	REVIVE_FAILED, /* revive_answer() only: error */
	REVIVE_OUTCOME_COUNT
};
/* "revived", "running", "not-wanted", "left", "held", "later", "failed"; static. */
const char *revive_outcome_name(enum revive_outcome outcome);
bool revive_outcome_parse(const char *name, enum revive_outcome *ret);

/* What came of one session.  Texts may be NULL. */
struct revive_result {
	enum revive_outcome outcome;
	char *id, *title; /* NULL when it is gone */
	char *reason;     /* for people */
	char *error;      /* why it failed */
	char *rung;       /* how it came back: rung_name() */
	char *note;       /* what is to be known about its history */
	bool elsewhere;   /* REVIVE_LEFT, because it ran on another machine */
	char *session_id;
	int64_t delay_ms;
};
void revive_result_free(struct revive_result *result);
#define cleanup_revive_result CLEANUP(revive_result_free)

/* Errors as lifecycle_start(): it could not be restored, and its manifest says why.  This does not
 * count as use: last_used_at stays. */
int revive(struct deck *deck, const char *base, const struct revive_order *order,
	   struct revive_result *ret, struct error *err);

/* Like revive(), but from `agentdeck revive`, which prints one JSON object.  *ret is the caller's. */
void revive_answer(const struct child_result *result, struct revive_result *ret);
