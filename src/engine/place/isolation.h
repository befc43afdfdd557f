/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a run's processes live: in a scope of their own under the user manager, out of reach of any
 * login, or, where that is not to be had, where the caller is.
 */
#pragma once

#include "engine/deck/deck.h"

enum isolation { ISOLATION_DIRECT, ISOLATION_SCOPE };

/* Decide, and log the one line "tmux cgroup isolation: ...".  Where it should be possible and is
 * not, there is also a warning.  Never fails: what cannot be asked counts as no isolation. */
enum isolation isolation_decide(struct deck *deck);

/* The directory that runs have theirs in: the user's runtime directory for those in a scope, where
 * it can be used.  Borrowed. */
const char *isolation_root(const struct deck *deck, enum isolation isolation);

/* The directory of a run of the instance of this id.  The caller frees. */
char *isolation_run_directory(const struct deck *deck, enum isolation isolation,
			      const char *id) MUST_USE;

/* See to it that the user manager outlives the last logout: ask logind once if it does not linger
 * yet, unless the settings forbid it.  A refusal is a warning with the remedy. */
void isolation_ensure_linger(struct deck *deck);

/* No user manager runs without a login (cron, a bare su): lingering, which a session needs in any
 * case, makes logind start one.  Returns whether one runs now.  False also where the settings
 * forbid it. */
bool isolation_wake_manager(struct deck *deck);

/* Did the run end with the user manager that had its scope?  Then another manager answers now,
 * which is younger than the run.  False: no, or not known. */
bool isolation_lost_manager(const struct deck *deck, const struct run *run);

/* The control group of this process; NULL: not known.  The caller frees. */
char *isolation_own_group(void) MUST_USE;

/* The decision without its effects, for the doctor: why is one of the log line's words, static or
 * borrowed from deck. */
enum isolation isolation_examine(struct deck *deck, const char **ret_why);
