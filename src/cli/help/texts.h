/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The texts of data/texts/, which scripts/embed-text builds into the program, and their printing.
 */
#pragma once

#include "cli/core/command.h"

#include <stdio.h>

extern const char text_help[], text_help_all[], text_manual[], text_command_manual[];
extern const char text_commands[], text_examples[], text_skill[];
extern const char text_bash[], text_zsh[], text_fish[];

/* Returns the command's section of commands.txt, or "".  The caller frees. */
char *command_description(const struct command *command) MUST_USE;

/* The next example of *text, which is at first the command's section of examples.txt
 * (command_examples()): its command line and what that does.  False: there are no more.  The caller
 * frees both. */
char *command_examples(const struct command *command) MUST_USE;
bool next_example(const char **text, char **ret_line, char **ret_text) MUST_USE;

/* What replaces @NAME@ in a text. */
struct text_part {
	const char *name;
	void (*print)(FILE *out, const struct command *command);
};

/* Print a text with its parts, up to one with name NULL.  A part with a line of its own in the text
 * prints whole lines, or nothing.  command is handed to each part. */
void print_text(FILE *out, const char *text, const struct text_part *parts,
		const struct command *command);
