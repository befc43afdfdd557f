/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a start, for revive.c: under a lock that the caller holds.
 */
#pragma once

#include "engine/run/operation.h"

struct lifecycle_order; /* engine/run/start.h */
struct removal_order;   /* engine/run/stop.h */

/* Does everything exist that a start needs: the agent's entry, the directory, the programs?  Sets
 * operation->agent. */
int lifecycle_check(struct operation *operation, struct error *err);

/* lifecycle_check(), and everything else that can be known before the present run is ended: that
 * no other session has the conversation, and that a run could be brought up (place->probe()). Needs
 * no lock. */
int lifecycle_check_before_end(struct operation *operation, struct error *err);

/* May it be started here?  ERROR_INVALID: it is on its way to or from another host, or is there;
 * the message says what to do. */
int lifecycle_check_move(const struct operation *operation, struct error *err);

/* A session without a run can be held because a background process of its agent has the
 * conversation.  Does that still run where a start or a removal would end it?  Then *ret_why (the
 * caller's) says so, and what to do; else NULL. */
int lifecycle_check_hold(const struct operation *operation, char **ret_why, struct error *err);
/* What of its background runs there; NULL: nothing does.  The caller's. */
int lifecycle_find_background(const struct operation *operation, char **ret, struct error *err);

/* Could lifecycle_fork() copy its conversation?  ERROR_INVALID. */
int lifecycle_check_fork(const struct instance *source, const struct agent *agent,
			 struct error *err);

/* The run is alive, and nothing shows it: open a window, and save that.  A start that was killed
 * before it could say that it runs is done then. */
int lifecycle_open_window(struct operation *operation, const struct lifecycle_order *order,
			  const struct observation *seen, struct error *err);

/* The refusal of what is there and does not answer; why as in struct observation.  Returns -1. */
int lifecycle_unknown(const struct operation *operation, const char *why, struct error *err);

/* lifecycle_start() from its third step on.  After an error that came before the intent was saved,
 * the instance differs from its manifest in what was learned by then: what is left of the run, the
 * conversation. */
int lifecycle_start_locked(struct operation *operation, const struct lifecycle_order *order,
			   bool *ret_already, struct error *err);

/* Follow the note of the run's agent (report_take_note()), and save that. */
void lifecycle_take_note(const struct operation *operation);
/* End the run as its user would; what the agent says then is saved. */
int lifecycle_end_run(const struct operation *operation, struct error *err);
/* The end of what runs, as a part of a stop or of a restart: wanted is EVENT_STOP_WANTED,
 * EVENT_SLEEP_WANTED or EVENT_RESTART_WANTED.  From the first save on the manifest says "stopping",
 * until the whole is done: stopped, or started again. */
int lifecycle_end_locked(const struct operation *operation, enum state_event wanted,
			 bool *ret_was_running, struct error *err);
/* lifecycle_stop() under the lock. */
int lifecycle_stop_locked(struct operation *operation, bool *ret_was_running, struct error *err);
/* Put a session to sleep under the lock, or finish a sleep that was cut off. */
int lifecycle_sleep_locked(struct operation *operation, bool *ret_was_running, struct error *err);

/* lifecycle_remove() under the lock, which it ends if it succeeds.  Not REMOVE_DAMAGED. */
int lifecycle_remove_locked(struct operation *operation, const struct removal_order *order,
			    struct error *err);

/* The line of the log that tells how the run's present attempt comes by its conversation. */
void lifecycle_log_attempt(const struct instance *instance);
