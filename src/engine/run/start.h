/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Start a session, and wait for its agent.  docs/architecture.md has the steps as a story.
 *
 * Every function here takes the instance's lock for itself, looks at what is there now instead of
 * trusting what was stored, and writes what it is about to do before it does it.
 */
#pragma once

#include "engine/place/place.h"

/* What a start does with a run that exists. */
enum start_kind {
	START_UNLESS_RUNNING, /* leave it alone */
	START_AFTER_STOP,     /* end it first, under the same lock: a restart */
	START_TO_WAKE,        /* ERROR_INVALID if it was stopped meanwhile; else leave it alone */
};

enum start_wish {
	START_RESUME,
	START_FRESH, /* without the old conversation */
	START_AGAIN, /* as START_RESUME, but does not update last_used_at */
};

struct lifecycle_order {
	enum start_kind kind;
	enum start_wish wish;
	/* The user says that the machine of its run is gone (--take-over). */
	bool takes_over;
	/* kept_check() has just been satisfied. */
	bool has_asked_hosts;
	/* The user wants no setup of its tree (--no-setup). */
	bool leaves_setup;
	/* The terminal of the user who starts it; 0: there is none, so as at its last start. */
	struct termsize terminal;
	const char *once;         /* the command's id (--once), saved with the intent; or NULL */
	struct place_order place; /* without lock and agent */
};

enum lifecycle_outcome {
	OUTCOME_REPORTED, /* the agent has reported its start */
	OUTCOME_ALIVE,    /* it lives, and cannot report or has not yet reported */
	OUTCOME_SHELL,    /* the agent does not start: a shell runs in its place */
	OUTCOME_OFFERED,  /* the pane asks whether to resume (policy "confirm") */
	OUTCOME_ENDED,    /* it is over already: see observed */
};

struct lifecycle_started {
	bool already; /* it was running: nothing was done */
	bool was_archived;
	enum lifecycle_outcome outcome; /* OUTCOME_ALIVE until lifecycle_wait() */
	/* the agent itself has shown that it is up: by its report, or by its screen */
	bool verified;
	char *unreported;          /* unreported_why(), after a wait; or NULL */
	struct instance *instance; /* the latest state; the caller's */
};
void lifecycle_started_free(struct lifecycle_started *started);
#define cleanup_lifecycle_started CLEANUP(lifecycle_started_free)

/* Bring the instance up by its ladder.  Returns when the run exists and is durable;
 * lifecycle_wait() finds out whether the agent stays.
 * ERROR_INVALID: the run belongs to another machine, and takes_over is not set; stop and removal
 * refuse in the same way.  ERROR_EXISTS: another live instance has this conversation.
 * ERROR_TIMEOUT: something exists that does not answer; it is not started a second time.
 * ERROR_UNAVAILABLE: a program is missing. */
int lifecycle_start(struct deck *deck, const char *base, const struct lifecycle_order *order,
		    struct lifecycle_started *ret, struct error *err);

/* A run in a container continues without its window: open another one, as lifecycle_start() does.
 * Nothing is done to a session that has its window, or does not live. */
int lifecycle_show(struct deck *deck, const char *base, struct error *err);

/* Called once if the wait for the agent's report exceeds one second.  most_s: how long it still
 * lasts at most. */
struct lifecycle_listener {
	void (*waits)(void *context, const struct instance *instance, int64_t most_s);
	void *context;
};

/* Wait until the outcome of a start is known: for a report if the agent can report, else 1 s for an
 * early death, and then look at the screen once.  Sets started->outcome and started->verified, and
 * replaces started->instance.  Without waiting for anything when it was already running.  listener
 * may be NULL. */
int lifecycle_wait(struct deck *deck, struct lifecycle_started *started,
		   const struct lifecycle_listener *listener, struct error *err);
