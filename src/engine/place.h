/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The directory that belongs to one instance: <state>/<profile>/conversations/<id>, "{state}" in the
 * registry.  An agent that cannot be told which conversation is meant keeps its conversations in
 * there, alone.
 *
 * What is in it is the user's: it outlives every run, and the instance too.
 */
#pragma once

#include "engine/deck.h"

/* Its path, whether it is there or not.  The caller frees. */
char *place_path(const struct deck *deck, const char *id) MUST_USE;

/* Make it, with mode 0700, when the agent wants one. */
int place_make(const struct deck *deck, const struct instance *instance, const struct agent *agent,
	       struct error *err);

/* PLACE_KEPT: there is something in it, so it stays. */
enum { PLACE_KEPT = 1 };

/* Remove it if it is empty.  Not there: 0. */
int place_remove(const struct deck *deck, const char *id, struct error *err);
