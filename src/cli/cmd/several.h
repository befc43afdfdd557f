/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands that take several sessions: which ones the command line names, and one process of ours
 * for each, side by side.  So one that fails, or takes long, does not hold up the others.
 */
#pragma once

#include "cli/core/command.h"

/* What such a command does. */
struct several_verb {
	/* With one session, and print the result.  Returns as struct command's run does. */
	int (*act)(struct app *app, const struct store_row *row, struct error *err);
	const char *result; /* for the counts: "stopped" */
	/* --all and --group pass over the sessions for which this says no.  NULL: over none. */
	bool (*concerns)(const struct store_row *row);
	bool takes_archived; /* else --all and --group leave them out, too */
	bool tells_archived; /* and say how many */
	const char *none;    /* what is said if no session is left; NULL: that none runs */
	int64_t timeout_ms;  /* for each; then its process is killed */
	struct strvec words; /* the options that each process gets; borrowed */
	/* One more option for the process of this row, static, or NULL.  NULL: there are none. */
	const char *(*word)(const struct app *app, const struct store_row *row);
	const char *input; /* what each reads from standard input; NULL: nothing */
	size_t input_length;
	unsigned jobs; /* at the same time; 0: as memory allows */
};

/* The sessions that were named, each once, in this order. */
struct several {
	const struct store_row **rows; /* borrowed from app->rows */
	size_t count;
	size_t left_alone; /* archived ones, of --all or --group with tells_archived */
	bool is_set;       /* --all or --group chose them */
};
/* A stop mostly waits for its agent, and needs no memory. */
enum { SEVERAL_STOPS = 32 };

/* Is it running, or to run?  For concerns. */
bool several_is_active(const struct store_row *row);
/* Likewise, or it sleeps: a message wakes it, and a stop ends that. */
bool several_is_wanted(const struct store_row *row);

void several_free(struct several *several);
#define cleanup_several CLEANUP(several_free)

/* Find them: names (titles, ids), or --all, or --group.  ERROR_USAGE: none of the three, or two of
 * them.  ERROR_NOT_FOUND: a name fits nothing; a group has no session. */
int several_choose(struct app *app, const struct strvec *names, const struct several_verb *verb,
		   struct several *ret, struct error *err);

/* Do it with each.  With one name it happens here; else each session gets a process, a line of
 * result as soon as there is one, and the counts follow.  Returns as struct command's run does: 1
 * when one failed. */
int several_run(struct app *app, const struct several *several, const struct several_verb *verb,
		struct error *err);

/* Both.  For a worker (app->instance): with that session alone. */
int several_do(struct app *app, const struct strvec *names, const struct several_verb *verb,
	       struct error *err);
/* The part of a worker; names the session in the error.  SEVERAL_NONE: this process is not a
 * worker. */
enum { SEVERAL_NONE = -2 };
int several_work(struct app *app, const struct several_verb *verb, struct error *err);
