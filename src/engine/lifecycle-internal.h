/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a start, for revive.c: under a lock that the caller holds.
 */
#pragma once

#include "engine/lifecycle.h"

/* observed.state and what goes with it; the caller saves. */
void lifecycle_set_state(struct instance *instance, enum instance_state state, const char *reason);

/* Is there everything that a start needs: the agent's entry, the directory, the programs? */
int lifecycle_check(struct deck *deck, const struct instance *instance, const struct agent **ret,
		    struct error *err);

/* Is the present attempt only a shell in the agent's place? */
bool lifecycle_is_shell(const struct instance *instance);

/* The refusal of what is there and does not answer; why as in struct observation.  Returns -1. */
int lifecycle_unknown(const struct instance *instance, const char *why, struct error *err);

enum start_wish {
	START_FRESH,  /* without the old conversation */
	START_RESUME,
	START_AGAIN,  /* the same, and nobody uses it by that: last_used_at stays as it was */
};

/* lifecycle_start() from its third step on.  After an error that came before the intent was saved, the instance
 * differs from its manifest in what was learned by then: what is left of the run, the conversation. */
int lifecycle_start_locked(struct deck *deck, struct store_lock *lock, struct instance *instance,
			   const struct backend *backend, enum start_wish wish, bool *ret_already,
			   struct error *err);

/* lifecycle_stop() under the lock. */
int lifecycle_stop_locked(struct deck *deck, struct store_lock *lock, struct instance *instance,
			  const struct backend *backend, bool *ret_was_running, struct error *err);

/* The run is there: write that down if it is not (a start was killed before it could, or saw no agent). */
int lifecycle_note_alive(struct store_lock *lock, struct instance *instance,
			 const struct observation *seen, struct error *err);

/* lifecycle_open(), but not between the end of an agent and what its pane makes of that: that is waited for, 2 s at the
 * most, without the lock. */
int lifecycle_open_settled(struct deck *deck, const char *base, struct store_lock **ret_lock,
			   struct instance **ret, const struct backend **ret_backend, struct error *err);
/* Has the process in the pane of this live server ended?  pane's pid may be 0: whoever wrote the run down found none, or
 * was killed before. */
bool lifecycle_is_between(const struct process_id *server, const struct process_id *pane);
