/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Create, start, stop, restart, remove: the order of the steps, and what holds when one of them is
 * the last that happened.  docs/architecture.md tells the same as a story.
 *
 * Every function here takes the instance's lock for itself, looks at what is there now instead of
 * trusting what was stored, and writes what it is about to do before it does it.
 */
#pragma once

#include "engine/backend.h"

struct lifecycle_new {
	const char *title;         /* NULL: the directory's base name, made unique */
	const char *group;         /* NULL: "" */
	const char *directory;     /* made absolute and real; must exist */
	const char *agent;         /* NULL: from argv, else the settings' default */
	const struct strvec *argv; /* the user's command; empty: the agent's own.  Borrowed */
	const struct strvec *arguments; /* appended to it.  Borrowed */
	const char *session_id;    /* an existing conversation to take over, or NULL */
	const char *forked_from;   /* id of the conversation to begin with a copy of, or NULL */
	bool gives_no_id;          /* the agent will say the id, though it takes one otherwise */
	const char *config_home;   /* the agent's home; NULL: what this caller's environment says */
	const char *resume;        /* policy's name, or NULL */
	const char *restart;       /* policy's name, or NULL */
	struct limits limits;
};

/* The instance of this base, locked, for a change.  ERROR_NOT_FOUND, ERROR_BUSY.  *ret_lock and *ret are the
 * caller's; *ret_backend is static. */
int lifecycle_open(struct deck *deck, const char *base, struct store_lock **ret_lock,
		   struct instance **ret, const struct backend **ret_backend, struct error *err);

/* Make an instance; nothing is started.  *ret is the caller's.  ERROR_EXISTS: the title is taken. */
int lifecycle_add(struct deck *deck, const struct lifecycle_new *wish, struct instance **ret,
		  struct error *err);

struct lifecycle_started {
	bool already;          /* it was running: nothing was done */
	struct instance *instance; /* as saved; the caller's: instance_free() */
};
void lifecycle_started_free(struct lifecycle_started *started);
#define cleanup_lifecycle_started CLEANUP(lifecycle_started_free)

/* Bring the instance up by its ladder.  Returns when the run exists and is durable: whether the agent
 * stays is told by lifecycle_wait().  restart: end what is there first, under the same lock.
 * resume_wish: false starts without the old conversation.
 * ERROR_EXISTS: another live instance has this conversation. ERROR_TIMEOUT: something is there that does
 * not answer; it is not started a second time.  ERROR_UNAVAILABLE: a program is missing. */
int lifecycle_start(struct deck *deck, const char *base, bool restart, bool resume_wish,
		    struct lifecycle_started *ret, struct error *err);

enum lifecycle_outcome {
	OUTCOME_REPORTED, /* the agent said that it is there */
	OUTCOME_ALIVE,    /* it cannot report, or has not yet, and lives */
	OUTCOME_SHELL,    /* the agent does not start: a shell is there in its place */
	OUTCOME_OFFERED,  /* the pane asks whether to resume (policy "confirm") */
	OUTCOME_ENDED,    /* it is over already: see observed */
};
/* Wait for what becomes of the run that lifecycle_start() made: for a report where the agent can give
 * one, else 1 s for an early death.  *instance is replaced by the latest state. */
int lifecycle_wait(struct deck *deck, struct instance **instance, enum lifecycle_outcome *ret,
		   struct error *err);

/* End the run and every process of it.  *ret_was_running tells whether there was one. */
int lifecycle_stop(struct deck *deck, const char *base, bool *ret_was_running, struct error *err);

/* Stop, then forget the instance.  The agent's own transcripts are the user's and stay.
 * damaged: its manifest cannot be read, so that there is nothing to stop. */
int lifecycle_remove(struct deck *deck, const char *base, bool damaged, struct error *err);

int lifecycle_rename(struct deck *deck, const char *base, const char *title, struct error *err);

/* Make a stopped instance whose first start begins with a copy of this one's conversation; this one is left as it is,
 * whether it runs or not.  title: NULL for "<title>-fork", made unique.  ERROR_INVALID: the agent cannot, or
 * there is no conversation with a turn in it.  *ret is the caller's. */
int lifecycle_fork(struct deck *deck, const char *base, const char *title, const char *group,
		   struct instance **ret, struct error *err);

/* From the next start on the instance's conversation is this one; the present id goes to the previous ones.
 * ERROR_INVALID: it runs, or the agent takes no such id.  ERROR_EXISTS: it is another instance's. */
int lifecycle_set_session_id(struct deck *deck, const char *base, const char *session_id,
			     struct error *err);
int lifecycle_set_resume_policy(struct deck *deck, const char *base, enum resume_policy policy,
				struct error *err);
int lifecycle_set_restart_policy(struct deck *deck, const char *base, enum restart_policy policy,
				 struct error *err);

/* The line of the log that tells how the run's present attempt comes by its conversation. */
void lifecycle_log_attempt(const struct instance *instance);

/* Note in *instance that the run is over, for this reason: state, desire, exit, and an id that only
 * the run knew. Clears the run.  The caller saves. */
void lifecycle_note_end(struct instance *instance, enum instance_state state, const char *reason);
