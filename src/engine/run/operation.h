/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One operation on one instance: the lock that it holds, and what it knows.
 *
 * Whatever starts, ends or judges a run is given this, and not its parts.
 */
#pragma once

#include "engine/place/place.h"
#include "model/session/state.h"

/* Locked until it is closed. */
struct operation {
	struct deck *deck;         /* borrowed */
	struct store_lock *lock;   /* owned */
	struct instance *instance; /* owned */
	const struct place *place; /* static */
	const struct agent *agent; /* NULL until operation_find_agent(); borrowed from deck */
	bool takes_over;           /* what another machine has is taken for ended */
	bool has_looked;           /* for operation_look() */
	struct observation seen;
};

enum { OPERATION_TIMEOUT_MS = 30000 };

/* Lock the instance of this base, for which this waits so long, and read its manifest.
 * ERROR_NOT_FOUND, ERROR_BUSY.  The caller closes *ret. */
int operation_open(struct deck *deck, const char *base, int timeout_ms, struct operation *ret,
		   struct error *err);
/* Like operation_open(), but not between the end of an agent and what its pane makes of that: that
 * is awaited without the lock, for 10 s at the most.  After that what exists of the run is
 * PRESENCE_UNKNOWN to operation_look(). */
int operation_open_settled(struct deck *deck, const char *base, struct operation *ret,
			   struct error *err);
/* Let go of the lock, and free the instance.  Takes one that is closed or all zero. */
void operation_close(struct operation *operation);
#define cleanup_operation CLEANUP(operation_close)
/* Moves the operation out; the source is left closed. */
struct operation operation_take(struct operation *operation) MUST_USE;

/* place_check_here().  takes_over: the user says that the machine of the run is gone (--take-over);
 * the run becomes one of this machine instead, and the log says so. */
int operation_admit(struct operation *operation, bool takes_over, struct error *err);

/* Save the instance. */
int operation_save(const struct operation *operation, struct error *err);
/* Something happened to it: transition(). */
int operation_note(const struct operation *operation, enum state_event event, const char *reason,
		   struct error *err);
/* Set operation->agent to the entry of the instance's agent.  Errors as deck_agent(). */
int operation_find_agent(struct operation *operation, struct error *err);

/* What exists of the run, by OBSERVE_ANSWER.  Asked once: whatever is decided under one lock is
 * decided on the same answer.  Not after the operation has begun or ended a run. */
const struct observation *operation_look(struct operation *operation);
/* Take the processes that were seen for those of the run, in memory. */
void operation_take_seen(const struct operation *operation, const struct observation *seen);
/* The run exists: write that down if the manifest does not say so (a start was killed before it
 * could, or saw no agent). */
int operation_note_alive(const struct operation *operation, const struct observation *seen,
			 struct error *err);
