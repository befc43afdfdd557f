/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions of an agent that agentdeck can answer: a table in its registry entry, with one row
 * for each dialog.  model/agent/permission.h reads them from a screen.
 */
#pragma once

#include "base/tomlmap.h"

struct agent_question {
	char *name; /* "command" */
	/* Extended regular expressions on single lines, from top to bottom.  NULL: it has no such
	 * line. */
	char *above; /* the line above it */
	char *title; /* its first line */
	char *edge;  /* the line above and below what it is about */
	char *asks;  /* the line above its choices */
	char *choice;
	char *yes;   /* the choice that approves this one thing; its first group is the key */
	char *pick;  /* without yes: a choice for the user, also with the key as its first group */
	char *below; /* its last line */
	char *after; /* lines below it, of which there is at least one */
	/* Others: the frame around each line, with the content as its first group; and a line that
	 * says that the agent does not show all. */
	char *frame, *hidden;
	/* What it is about is a difference that the agent draws above it: its first line, with the
	 * file and the numbers of lines that it adds and takes away as its groups; others without a
	 * colour behind them; and the line of the question that names the file. */
	char *change, *beside, *target;
	char *preview; /* a number: as many lines of the difference may be a part of it */
	char *mark;    /* in front of the choice that Enter would take, or NULL */
	char *deny;    /* tmux name of the key that refuses */
};

struct agent_questions {
	struct agent_question *items;
	size_t count;
};

/* The keys of one question: each has a text. */
struct agent_question_key {
	const char *name;
	size_t offset;
	bool is_needed, is_pattern;
	const char *group; /* what its first group finds, or NULL */
};
extern const struct agent_question_key agent_question_keys[];
extern const size_t agent_question_key_count;
/* NULL: it has no such value. */
const char *agent_question_value(const struct agent_question *question,
				 const struct agent_question_key *key);

/* A store function: [question.NAME] adds a question, or changes that of the same name. */
int agent_questions_store(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err);
void agent_questions_clear(struct agent_questions *questions);
/* *questions is a copy of the struct, and gets its own values. */
void agent_questions_detach(struct agent_questions *questions);
