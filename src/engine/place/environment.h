/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The environment of a run: the caller's, minus what belongs to one login, to another tmux or to
 * another agent, plus what is the run's own: the agent's home, its isolation, where it reports to.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/place/alive.h"

/* The environment of this process without what belongs to the login, the terminal or the run that
 * it was called from, appended to *ret. */
void environment_plain(struct strvec *ret);

/* Let this process have these variables (NAME=VALUE) of a login of its user, without what belongs
 * to that login itself, and without what says where our own files are.  Directories that only our
 * PATH has stay at its end.  What is no variable is left out. */
void environment_adopt(const struct strvec *login);

/* Add the variables of a run that this process lacks.  Its caller gave it only some, as codex does
 * with its servers. */
void environment_complete(const struct strvec *run);

/* NAME=VALUE of a new run's tmux server, in *ret (appended). */
void environment_build(const struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct strvec *ret);

/* Keep in instance what a start without a login will need of this process's environment: PATH and
 * other variables that say where things are, and those of [environment] keep.  Nothing that could
 * be a secret, unless its user names it there: of proxies and of providers' accounts only the
 * names. */
void environment_keep(struct deck *deck, struct instance *instance);

/* Append to *ret the names that environment_keep() kept and that the live run does not have.  None
 * of a session that does not run, or lives in a container. */
void environment_missing(const struct instance *instance, struct strvec *ret);

/* The PATH that the instance has kept; NULL: none.  Borrowed. */
const char *environment_kept_path(const struct instance *instance);

/* The caller of this process has no environment of a user's (cron, env -i): let the PATH be the
 * kept one, and set what else is kept and is not set here. */
void environment_take_kept(const struct instance *instance);

/* The environment of this process, overlaid with what the instance has kept, appended to *ret. */
void environment_of_kept(const struct instance *instance, struct strvec *ret);

/* The environment that the tmux server of a run was started with, without what is the run's own, so
 * that the next one can be started with it.  PROCESS_GONE, and *ret untouched: it has ended, or is
 * not of this session. */
int environment_of_run(const struct place_run *run, struct strvec *ret);

/* Append to *ret the secrets of a live agent in a container that came from an environment, so that
 * a restart without that environment has them.  Each is ENV_LAST_SECRET NAME=VALUE, since the agent
 * chooses the value.  PROCESS_GONE: it has ended, or is not of this session. */
int environment_of_secrets(const struct instance *instance, struct strvec *ret);

/* NAME=VALUE of an agent in a container, over the container's own, in *ret (appended).  Nothing of
 * this process's environment gets there. */
void environment_inside(const struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct strvec *ret);

/* The value of the slot {hook}: the argv that takes a report, as a JSON array of strings, which
 * is TOML as well. The caller frees. */
char *environment_hook(const struct deck *deck, const struct instance *instance) MUST_USE;
