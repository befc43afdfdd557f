/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A directory for the conversations of one instance: <state>/<profile>/conversations/<id>,
 * "{state}" in the registry.  For agents that cannot be told which conversation to resume: such an
 * agent keeps its conversation there, alone.
 *
 * The contents are the user's: they outlive every run, and the instance as well.
 */
#pragma once

#include "engine/deck/deck.h"

/* The home's path, whether or not it exists.  The caller frees. */
char *home_path(const struct deck *deck, const char *id) MUST_USE;
char *home_path_in(const struct deck *deck, const char *profile, const char *id) MUST_USE;

/* Make it with mode 0700 if the agent needs one. */
int home_make(const struct deck *deck, const struct instance *instance, const struct agent *agent,
	      struct error *err);

/* Make it for the session that will get this id, durably. */
int home_create(const struct deck *deck, const char *id, struct error *err);

/* HOME_KEPT: it is not empty, so it stays. */
enum { HOME_KEPT = 1 };

/* Remove it if it is empty.  It does not exist: 0. */
int home_remove(const struct deck *deck, const char *id, struct error *err);

/* When its session goes: remove it if it is empty; else warn the user that the conversations remain
 * in it, and say when nothing needs them any more.  HOME_TRASHED: undo can restore the session.
 * HOME_PRUNED: nothing can. */
enum home_end { HOME_TRASHED, HOME_PRUNED };
void home_leave(struct deck *deck, const char *id, enum home_end end);
