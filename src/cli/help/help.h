/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is made from the command table: the help texts, the manual pages and the completion in the
 * shells.  So none of them can be out of date (docs/adding-a-command.md).
 */
#pragma once

#include "cli/core/command.h"

#include <stdio.h>

/* Print the help of one command (NULL: of the program). */
void print_help(FILE *out, const struct command *command);
/* Print the list of all commands, with those that only agentdeck itself calls. */
void print_all_help(FILE *out);
/* Print the commands of a family, as print_all_help() lists all of them. */
void print_family(FILE *out, const char *word);

/* Returns the next paragraph of a description, and moves *text behind it; NULL behind the last one.
 * *ret_as_is: a line begins with a space, so it is a table or an example, whose lines stay as they
 * are.  The caller frees. */
char *next_paragraph(const char **text, bool *ret_as_is) MUST_USE;

/* What the table says of a command, for programs (docs/json.md); the caller's. */
struct json_object *json_of_command(const struct command *command) MUST_USE;

/* Print agentdeck(1) in the man(7) language. */
void print_manual(FILE *out);
/* Print the page of one command: agentdeck-session-start(1). */
void print_command_manual(FILE *out, const struct command *command);

/* The shells that have a completion script, and their names. */
enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELL_COUNT };
extern const char *const shell_words[SHELL_COUNT];
void print_completion(FILE *out, enum shell shell);

/* Answer those scripts: print what can stand as the last of these words, which follow the program's
 * name (completion.c describes the form).  app is the caller's, without a deck; this opens that of
 * the profile that the words name.  On an error the output may be incomplete. */
int print_candidates(FILE *out, struct app *app, const struct strvec *words, struct error *err);
