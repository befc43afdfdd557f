/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The environment of a run: the caller's, minus what belongs to one login, to another tmux or to
 * another agent, plus what is the run's own.
 */
#pragma once

#include "engine/deck.h"

/* NAME=VALUE of a new run's tmux server, in *ret (appended). */
void environment_build(const struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct strvec *ret);

/* Does the pattern ("NAME", "PREFIX*", "A*B") name this variable? */
bool environment_matches(const char *pattern, const char *name);
