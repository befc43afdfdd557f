/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bring an instance back that is to run and does not: after a crash, an incident, a restart of the machine.  The
 * supervisor and `agentdeck recover` do it through here, one process for each (`agentdeck revive`), so that many
 * come back side by side and none can take the others down.
 *
 * A stop always wins: the wish is read under the instance's lock, the same that a stop holds.
 */
#pragma once

#include "engine/lifecycle.h"

enum revive_cause {
	REVIVE_BY_USER, /* recover by hand: what is held, or was restarted too often, comes back too */
	REVIVE_UNASKED, /* the supervisor: by the restart policy (model/restart.h) */
};

enum revive_outcome {
	REVIVED,          /* it runs again; instance tells how (run_attempt()) */
	REVIVE_ALIVE,     /* it ran already */
	REVIVE_NOT_WANTED,/* desired is "stopped" (a stop that was interrupted is finished now), or it is not there any more */
	REVIVE_LEFT,      /* its resume policy is "never" (or the master switch is off), or its restart policy leaves it: reason */
	REVIVE_HELD,      /* it is held, perhaps just now: reason */
	REVIVE_LATER,     /* unasked, and not before delay_ms are over */
	REVIVE_OUTCOME_COUNT
};
/* "revived", "running", "not-wanted", "left", "held", "later"; static. */
const char *revive_outcome_name(enum revive_outcome outcome);
bool revive_outcome_parse(const char *name, enum revive_outcome *ret);

struct revive_result {
	enum revive_outcome outcome;
	char *reason;              /* for people, or NULL */
	int64_t delay_ms;
	struct instance *instance; /* as it is now; NULL when it is gone */
};
void revive_result_free(struct revive_result *result);
#define cleanup_revive_result CLEANUP(revive_result_free)

/* dry: decide, and change nothing.  Errors as lifecycle_start(): it could not be brought back, and its manifest says why.
 * Coming back is no use of it: last_used_at stays. */
int revive(struct deck *deck, const char *base, enum revive_cause cause, bool dry,
	   struct revive_result *ret, struct error *err);
