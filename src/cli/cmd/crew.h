/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands of ours that run side by side, each in a process, one for each session.  So one that
 * fails, or takes long, does not hold up the others.
 */
#pragma once

#include "cli/core/command.h"

struct crew_job {
	struct strvec words;    /* the command and its words, without agentdeck and --profile */
	const char *title, *id; /* of the session; id NULL: it is made.  Borrowed */
	int directory;          /* the working directory; 0: ours */
	const char *input;      /* what it reads from standard input; NULL: nothing.  Borrowed */
	size_t input_length;
	const char *place; /* "<file>:<line>:<column>", put before its error; NULL.  Borrowed */
	struct json_object *members; /* with --json: more members of its answer; NULL.  Borrowed */
};

struct crew_order {
	const struct crew_job *jobs;
	size_t count;
	size_t at_once;     /* 0: as memory allows */
	int64_t timeout_ms; /* for each; then its process is killed */
};

/* Long enough for a lock, the end of an agent and the start of the next one. */
int64_t crew_timeout_ms(const struct app *app);

/* Run them all, and print what each says as soon as it has ended: a line of result, or with --json
 * an object with id and title.  *ret_failed: how many did not succeed. */
int crew_run(struct app *app, const struct crew_order *order, size_t *ret_failed,
	     struct error *err);
/* Put these into an answer.  members: borrowed; NULL: none. */
void crew_add_members(struct json_object *object, struct json_object *members);
