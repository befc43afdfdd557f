/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bring back everything that is to run and does not, side by side: each in a process of its own, `agentdeck revive`.
 */
#pragma once

#include "engine/revive.h"

struct recover_wish {
	const char *group;    /* only this group (and those below it); NULL: all */
	bool only_error;      /* only those in state "error" */
	bool dry;
	unsigned jobs;        /* at the same time; 0: recover_jobs() */
	bool kept_environment; /* each begins with what it has kept over ours: nobody's login calls */
};

/* One instance's result, as it comes in. */
struct recover_row {
	const char *id, *title;
	enum revive_outcome outcome;
	bool failed;          /* error tells why; outcome means nothing */
	const char *error, *reason;
	const char *rung;     /* how it came back: rung_name(); NULL */
	const char *session_id;
	const char *note;     /* what is to be known about its history, or NULL */
	int64_t elapsed_ms;
};

struct recover_counts {
	size_t total, done, revived, alive, left, failed;
	size_t offers;        /* not among the total: their agents had ended by themselves, and nobody stopped them */
};

/* Called once before the first (row NULL), then after each. */
typedef void (*recover_progress)(const struct recover_counts *counts, const struct recover_row *row,
				 void *context);

/* Twice the processors, and no more than the memory that is available gives 512 MiB each; at least 1. */
unsigned recover_jobs(void);

/* Those of the profile with desired "running" and no live run (a shell in the agent's place is none), last used first; what
 * is damaged is among the failures, unless a group is wished.  A failure of one is no failure of this: see
 * ret->failed.  While less than a twentieth of the memory is available, only one is started at a time. */
int recover_run(struct deck *deck, const struct recover_wish *wish, recover_progress progress,
		void *context, struct recover_counts *ret, struct error *err);
