/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Restart everything that should run and does not, side by side: each in its own process,
 * `agentdeck revive`.
 */
#pragma once

#include "engine/run/revive.h"

struct recover_order {
	const char *group; /* only this group (and those below it); NULL: all */
	bool only_error;   /* only those in state "error" */
	enum revive_mode mode;
	unsigned jobs; /* at the same time; 0: recover_jobs() */
	/* each begins with the variables that it has kept, since no login calls */
	bool kept_environment;
	bool takes_over; /* as in struct lifecycle_order */
};

struct recover_counts {
	size_t total, done, revived, alive, left, failed;
	size_t elsewhere; /* those among left that ran on another machine */
	/* not among the total: their agents had ended by themselves, and were not stopped */
	size_t offers;
};

/* Called once before the first (result NULL), then after each, with the time that it took. */
typedef void (*recover_progress)(const struct recover_counts *counts,
				 const struct revive_result *result, int64_t elapsed_ms,
				 void *context);

/* Twice the processors, and no more than the memory that is available gives 512 MiB each; at
 * least 1. */
unsigned recover_jobs(void);

/* Restart the profile's sessions with desired "running" and no live run (a shell in the agent's
 * place is none), last used first; a damaged one is among the failures, unless a group is wished. A
 * failure of one does not fail the whole: see ret->failed.  While less than a twentieth of the
 * memory is available, only one is started at a time. */
int recover_run(struct deck *deck, const struct recover_order *order, recover_progress progress,
		void *context, struct recover_counts *ret, struct error *err);

/* What `agentdeck recover --json` answered.  ERROR_CHILD: it failed as a whole, and said why. */
int recover_answer(const struct child_result *result, struct recover_counts *ret,
		   struct error *err);
