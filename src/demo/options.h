/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo agent's command line, and its switches in the environment.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct options {
	/* Borrowed from argv; NULL where not given. */
	const char *session_id, *resume, *settings, *model, *system_prompt, *prompt;
	const char *worktree; /* a name; "": the agent makes one up */
	bool continue_latest, fork, print;
};

/* The texts of --help and /help (data/texts/). */
extern const char demo_help[], demo_commands[];

/* Returns true to continue.  False: exit with *ret_exit_status; any message has been printed. */
bool options_parse(int argc, char *argv[], struct options *ret, int *ret_exit_status);

/* Whether the variable is set to anything but "" and "0". */
bool switch_is_on(const char *variable);

/* The variable as a number from 0 to a day of milliseconds, else the fallback. */
int switch_number(const char *variable, int fallback);
