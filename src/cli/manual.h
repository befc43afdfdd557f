/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command table as something to read: the help texts, the manual page agentdeck(1)
 * and completion in the shells are all made from it, so that none can lag behind
 * (docs/adding-a-command.md).
 */
#pragma once

#include "cli/command.h"

/* Options before the command, up to an entry with name NULL. */
extern const struct command_option global_options[];
/* What HAS_JSON adds to a command's own. */
extern const struct command_option json_options[];

/* Short forms: agentdeck <word> is agentdeck <name>.  Up to an entry with word NULL. */
struct command_alias {
	const char *word, *name;
};
extern const struct command_alias command_aliases[];

/* The command of this name or short form, hidden ones too; NULL: there is none. */
const struct command *command_named(const char *name);

/* Is word the first of several commands' names ("session")? */
bool command_is_family(const char *word);

/* The next paragraph of a description, NULL behind the last; *text moves on.  Those with a line that
 * begins with a space are tables and examples, whose lines stay as they are: *ret_as_is.  The caller
 * frees. */
char *next_paragraph(const char **text, bool *ret_as_is) MUST_USE;

/* The commands of a family, as print_help() lists all of them. */
void print_family(FILE *out, const char *word);

/* agentdeck(1) in the man(7) language. */
void print_manual(FILE *out);
/* What it says of one command, as a page of its own: agentdeck-session-start(1). */
void print_command_manual(FILE *out, const struct command *command);

/* A completion script for bash, zsh or fish.  ERROR_USAGE: another shell. */
int print_completion(FILE *out, const char *shell, struct error *err);

/* What the scripts ask for: what can stand as the last of these words, which are those behind the
 * program's name (completion.c says in which form).  On an error the output may be cut short. */
int print_candidates(FILE *out, struct app *app, const struct strvec *words, struct error *err);
