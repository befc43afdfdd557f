/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A declared deck: the sessions that a file names (agentdeck.toml).
 *
 *   group = "work"                  # for each session that names none
 *   [session.api]                   # its title
 *   path = "src/api"                # from the directory of the file, or "~/..."; else that one
 *   agent = "claude"                # and every other option of launch, with its value
 *   args = ["--model", "opus"]      # for the agent
 *   message = "Read TODO.md."       # sent when the session is made
 */
#pragma once

#include "cli/core/command.h"

struct declared {
	char *title;
	/* Where the file says so, "<path>:<line>:<column>": its table, and its keys path and agent.
	 */
	char *place, *path_place, *agent_place;
	char *directory;         /* absolute; real where it exists */
	char *group, *agent;     /* NULL: the file does not say */
	struct strvec options;   /* of launch: "--agent=claude" */
	struct strvec command;   /* the words of cmd; empty: the agent's own */
	struct strvec arguments; /* for the agent */
	bool has_arguments;      /* the file says so, also if there are none */
	char *tags;              /* as in struct instance, but "" if there are to be none */
	char *message;           /* or NULL */
	struct limit_change limits;
};

struct deckfile {
	char *path;       /* real */
	const char *home; /* borrowed */
	int directory;
	struct declared *sessions;
	size_t count;
};

/* Does launch get this word? */
bool declared_has_option(const struct declared *declared, const char *word);
/* The option's value: "--restart=".  NULL: the file does not say.  Borrowed. */
const char *declared_value(const struct declared *declared, const char *prefix);

/* Read the file; home: what "~" is.  ERROR_NOT_FOUND says how to write one.  ERROR_CORRUPT
 * "<path>:<line>:<column>: <why>": a mistake, also an option that launch does not have.  *ret:
 * deckfile_free(). */
int deckfile_read(const char *path, const char *home, struct deckfile *ret, struct error *err);
void deckfile_free(struct deckfile *file);
#define cleanup_deckfile CLEANUP(deckfile_free)

/* The JSON Schema of such a file, from the options of launch.  The caller's. */
struct json_object *deckfile_schema(void) MUST_USE;

/* The words behind launch that make the session; whose: those that people would type, or those of
 * a process of ours, which reads the message from its standard input. */
enum launch_words { LAUNCH_OF_USER, LAUNCH_OF_CREW };
void declared_launch(const struct declared *declared, enum launch_words whose, struct strvec *ret);
