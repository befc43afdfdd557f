/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The door through which the state of an instance changes: model/session/state.h says what becomes
 * of it, and this stamps it with time, boot and machine, saves it and logs it, in one place.
 *
 *   state running -> error: its tmux server was killed
 */
#pragma once

#include "driver/store/store.h"
#include "model/session/state.h"

enum { TRANSITION_NONE = 1 };

/* reason is for people, may be NULL, and is copied.  Whatever else was changed in *instance is
 * saved with it.  lock NULL: a trial, which is neither saved nor logged.
 * TRANSITION_NONE: the event changes nothing, and nothing was saved.  ERROR_INVALID: the event
 * cannot happen in this state; *instance is untouched, and the log says so.  Else it could not be
 * saved: *instance is changed, and its manifest is not. */
int transition(struct store_lock *lock, struct instance *instance, enum state_event event,
	       const char *reason, struct error *err);

/* Like transition(), but for what belongs to the end of an earlier run: boot_id is the boot of that
 * one, or NULL. */
int transition_of_boot(struct store_lock *lock, struct instance *instance, enum state_event event,
		       const char *reason, const char *boot_id, struct error *err);
