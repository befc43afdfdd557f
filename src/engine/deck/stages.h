/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a session in a container comes up, stage by stage: what a user sees while it takes long, and
 * what is written down for the case that it fails.
 *
 * Each run has an id and a file, <state>/logs/<id>.log, with its stages, their times, and all that
 * a build and the commands of a role have said.  There is one once the engine has something to do.
 * The last STAGES_KEPT files are kept.
 */
#pragma once

#include "engine/deck/deck.h"

enum stage {
	STAGE_IDENTITY,    /* the session's directory, agent and conversation */
	STAGE_ROLE,        /* read it, and ask for it */
	STAGE_CREDENTIALS, /* the agent's login, secrets */
	STAGE_BASE,        /* what the image is built from */
	STAGE_AGENT,       /* the agent's program */
	STAGE_IMAGE,       /* build it */
	STAGE_WORKSPACE,   /* the session's tree, its setup, the commands of the role */
	STAGE_NETWORK,
	STAGE_SIDECAR, /* the Docker inside */
	STAGE_CAPSULE, /* the container */
	STAGE_WINDOW,
	STAGE_COUNT
};

enum { STAGES_KEPT = 50 };

/* Set for a command whose stages another program shows: they are lines of JSON on its standard
 * error, also without --json. */
#define ENV_STAGES "AGENTDECK_STAGES"

/* A stage begins or ends, or the run ends: is_last.  All borrowed. */
struct stage_news {
	const char *run;  /* its id */
	const char *text; /* the stage; at the end of the run all of them, "image 12.9 s, ..." */
	bool is_end, is_failure, is_last;
	bool is_slow; /* it begins, and is known to take long */
	int64_t ms;   /* at an end: how long it took; else since the run began */
};

/* Begin a run.  STAGES_ELSEWHERE: there is a run already, and its caller ends it. */
enum { STAGES_ELSEWHERE = 1 };
int stages_begin(struct deck *deck);
/* The next stage; the one before ends.  Nothing without a run. */
void stages_enter(struct deck *deck, enum stage stage);
/* A line of a build or a command. */
void stages_say(const struct deck *deck, const char *line);
/* End the run that stages_begin() began.  err: why it failed, which then names the file; NULL: it
 * did not. */
void stages_end(struct deck *deck, struct error *err);
