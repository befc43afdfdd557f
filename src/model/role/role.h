/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A role: the environment of a session, as a repository describes it in a devcontainer.json.
 * docs/roles.md says what of that file counts, and why.
 *
 * The file is hostile input.  A repository can only ask: each thing in it runs, is asked of the
 * user, is refused, or is left out with a note.
 *
 * Pure: text in, struct out.
 *
 *   role.c         the struct, its words
 *   role-read.c    the table of keys and their readers
 *   role-place.c   what gives the container more of this machine: mounts, capabilities, networks
 *   role-args.c    runArgs
 *   role-command.c the commands inside
 *   role-question.c the order of what the user is asked
 *   role-expand.c  ${localEnv:NAME} and the like
 */
#pragma once

#include "base/text.h"
#include "model/session/recipe.h"

/* What a file, or a part of it, comes to; the worst is the greatest. */
enum role_verdict {
	ROLE_RUNS,
	ROLE_NOTE,    /* it runs, and something is left out or otherwise than elsewhere */
	ROLE_ASKS,    /* it runs when its user agrees to this */
	ROLE_REFUSED, /* it never runs */
	ROLE_VERDICT_COUNT
};

struct role_finding {
	enum role_verdict verdict;
	char *key;     /* "runArgs.0" */
	unsigned line; /* in the file; 0: of no line */
	char *text;    /* one line: what it is, what becomes of it */
};

/* When a command runs; the first one would run on this machine, and never does. */
enum role_event {
	ROLE_INITIALIZE,
	ROLE_ON_CREATE,
	ROLE_UPDATE_CONTENT,
	ROLE_POST_CREATE,
	ROLE_POST_START,
	ROLE_POST_ATTACH,
	ROLE_EVENT_COUNT
};

/* A command inside, in the order in which they run. */
struct role_command {
	enum role_event event; /* never ROLE_INITIALIZE or ROLE_POST_ATTACH */
	struct strvec argv;
};

/* A variable whose value the user is asked for. */
struct role_question {
	char *name, *prompt,
		*otherwise;    /* prompt NULL: none; otherwise NULL: there is no default */
	struct strvec options; /* empty: any text */
	struct strvec after;   /* it is asked only when these have an answer */
	bool is_skippable, is_secret;
};

struct role {
	char *name, *image;
	/* Paths as written, below the directory of the file; dockerfile NULL: there is none. */
	char *dockerfile, *context, *target;
	struct strvec build_args;  /* NAME=VALUE */
	struct strvec environment; /* NAME=VALUE, each name once */
	struct strvec mounts;      /* SOURCE:TARGET[:ro], both absolute */
	char *workspace;           /* where else the session's directory is in there */
	struct strvec cap_add;
	struct strvec logins; /* names of more logins than that of the session's agent */
	char *network, *user, *cpus, *agent, *docker; /* NULL: not named */
	int64_t memory;                               /* 0: not named */
	char *texts[ROLE_EVENT_COUNT];                /* the commands for people; NULL: none */
	struct role_command *commands;
	size_t command_count;
	struct role_question *questions; /* in the order in which they are asked */
	size_t question_count;
	struct role_finding *findings;
	size_t count;
	enum role_verdict verdict; /* the worst of the findings; never ROLE_NOTE */
};
void role_clear(struct role *role);
#define cleanup_role CLEANUP(role_clear)

struct role_order {
	const char *path;                 /* of the file, for messages */
	const char *workspace;            /* the session's directory */
	const struct strvec *environment; /* NAME=VALUE that ${localEnv:NAME} may read */
	enum recipe_rights rights;
};

/* What a file may have at most. */
enum { ROLE_MAX_BYTES = 64 << 10, ROLE_MAX_FINDINGS = 64, ROLE_MAX_QUESTIONS = 32 };

/* Read a devcontainer.json.  ERROR_CORRUPT: it is no JSON object, as "<path>:<line>:<column>:
 * <why>".  Everything else that is wrong with it is a finding. */
int role_read(const char *text, size_t length, const struct role_order *order, struct role *ret,
	      struct error *err);

/* Is this a place of this machine that no role can have: the engine's socket, a device, or a
 * directory with some?  An absolute path without links. */
bool role_is_forbidden(const char *source);

/* Is this text a source of a secret: env:NAME, file:PATH, command:[...]?  No text of a role is one.
 */
bool role_is_reference(const char *text);

/* "runs", "note", "asks", "refused".  Static. */
const char *role_verdict_name(enum role_verdict verdict);
/* "postCreateCommand".  Static. */
const char *role_event_key(enum role_event event);
