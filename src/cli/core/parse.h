/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one reader of command lines: for the commands that run, and for the completion of what a user
 * is still typing.
 */
#pragma once

#include "cli/core/command.h"

/* Read a command line: the options before the command, the command, its options and operands.  The
 * result is in *app, which borrows from argv.  This may move the words of argv, and overwrites
 * those of a message.
 *
 * Parsing stops at --help and --version.  A line without a command means list.  app->command is
 * NULL at --help and --version, and where app->family has the first word of several.  ERROR_USAGE:
 * the line is wrong. */
int parse_command_line(struct app *app, int argc, char *argv[], struct error *err);

/* The position of the word that follows an unfinished command line. */
struct parse_place {
	const struct command_option *option; /* the word is its value; NULL: it is not one */
	bool is_lost;                        /* the words before it name no command */
	bool is_rest;                        /* it follows "--" */
};

/* Like parse_command_line(), but for the words before the one that is to be completed.  It ignores
 * what is wrong, and sets of the options only the texts. */
void parse_unfinished(struct app *app, int argc, char *argv[], struct parse_place *ret);
