/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The picker: which agent a new session is for, asked of people who did not say it.
 */
#pragma once

#include "cli/wish.h"
#include "model/registry.h"

enum pick_answer {
	PICK_DEFAULT, /* nothing, or q: as it would be without a question */
	PICK_AGENT,   /* a number, or the name or program of an agent */
	PICK_COMMAND, /* a command line of the user's own */
	PICK_NONE,    /* an answer that means nothing */
};

/* What the line means.  offered: the agents in the order of their numbers.  *ret_agent is borrowed from offered or
 * registry; for PICK_COMMAND the words are appended to *ret_command.  PICK_NONE: *err tells why (may be NULL).
 * Pure. */
enum pick_answer pick_parse(const char *line, const struct registry *registry,
			    const struct agent *const *offered, size_t count, const struct agent **ret_agent,
			    struct strvec *ret_command, struct error *err);

/* Ask, and put the answer into the wish, unless it says already what to run, a default agent is set, or there is
 * nobody to ask: no terminal on both sides, or --json.  After the end of the input nothing is made:
 * ERROR_USAGE. */
int pick_ask(struct app *app, struct wish *wish, struct error *err);
