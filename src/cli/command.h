/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands: one `const struct command` for each verb, in a file of its own, listed in commands.c.
 * The parser, --help, the manual pages and the shell completions all read this table
 * (docs/adding-a-command.md).
 */
#pragma once

#include "engine/deck.h"

#include <stdio.h>

struct command_option {
	char letter;          /* 'j', 0 for none */
	const char *name;     /* "json" */
	const char *argument; /* "TITLE"; NULL: it takes none */
	const char *help;     /* one line, no full stop */
};

enum command_flags {
	NEEDS_DECK = 1 << 0,  /* paths, settings, log */
	NEEDS_STORE = 1 << 1, /* and the profile's instances; implies NEEDS_DECK */
	HAS_JSON = 1 << 2,    /* takes --json */
	HAS_REST = 1 << 3,    /* words after "--" are not for us */
	IS_HIDDEN = 1 << 4,   /* called by agentdeck itself, not by people */
};

struct app;

struct command {
	const char *name;        /* "session start" */
	const char *arguments;   /* synopsis of the operands: "SESSION" */
	const char *summary;     /* one line: help, completion, manual */
	const char *description; /* paragraphs for --help and the manual; "" for none */
	const struct command_option *options; /* up to an entry with name NULL; or NULL */
	unsigned min_operands, max_operands;
	unsigned flags;
	/* 0, or an error; a positive value is the exit status. */
	int (*run)(struct app *app, struct error *err);
};

enum { COMMAND_MAX_OPTIONS = 24 };

/* What the command is run with. */
struct app {
	struct deck deck;
	const struct command *command;
	const char *profile;        /* of -p, or NULL */
	bool json;
	bool color;                 /* standard output is a terminal and NO_COLOR is not set */
	struct strvec operands;
	struct strvec rest;         /* the words after "--" */
	const char *values[COMMAND_MAX_OPTIONS]; /* by index in command->options; "" without argument */
};

/* Every command, NULL at the end, in the order of the help. */
extern const struct command *const commands[];

/* Value of the option of this name: NULL when it was not given. */
const char *option_value(const struct app *app, const char *name);
bool option_given(const struct app *app, const char *name);

/* The instance that the operand at this index names, found among all (store_list()).  rows is the
 * caller's; *ret is borrowed from it. */
int app_resolve(struct app *app, const char *target, struct store_rows *rows,
		const struct store_row **ret, struct error *err);

/* Exit status of the whole program. */
int command_main(int argc, char *argv[]);

/* Print a JSON object or array on standard output. */
void print_json(struct json_object *object);
/* Print the help of one command (NULL: of the program). */
void print_help(FILE *out, const struct command *command);
/* Show and forget the deck's warnings (standard error). */
void print_warnings(struct app *app);
