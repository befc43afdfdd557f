/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The environment of a run: the caller's, minus what belongs to one login, to another tmux or to
 * another agent, plus what is the run's own: the agent's home, its isolation, where it reports to.
 */
#pragma once

#include "engine/deck.h"

/* NAME=VALUE of a new run's tmux server, in *ret (appended). */
void environment_build(const struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct strvec *ret);

/* Keep in instance what a start without a login will need of this process's environment: PATH and other variables that say where
 * things are, and those of [environment] keep.  Nothing that could be a secret, unless its user names it there. */
void environment_keep(const struct deck *deck, struct instance *instance);

/* This process's environment with what the instance has kept put over it, appended to *ret. */
void environment_of_kept(const struct instance *instance, struct strvec *ret);

/* The environment that a process of a run was started with, without what is the run's own, so that the next one can be started
 * with it.  PROCESS_GONE, and *ret untouched: it has ended. */
int environment_of_process(pid_t pid, struct strvec *ret);

/* What stands in the slot {hook}: the argv that takes a report, as a JSON array of strings, which is TOML as well.
 * The caller frees. */
char *environment_hook(const struct deck *deck) MUST_USE;

/* Does the pattern ("NAME", "PREFIX*", "A*B") name this variable? */
bool environment_matches(const char *pattern, const char *name);
