/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The picker: it asks which agent a new session is for, if the command does not say so.
 */
#pragma once

#include "cli/cmd/neworder.h"
#include "model/agent/registry.h"

enum pick_answer {
	PICK_DEFAULT, /* nothing: the same as without the question */
	PICK_AGENT,   /* a number, or the name or program of an agent */
	PICK_COMMAND, /* another command line */
	PICK_NONE,    /* the answer means nothing */
};

struct pick_offer {
	const struct registry *registry;
	const struct agent *const *agents; /* in the order of their numbers */
	size_t count;
};

/* Parse an answer.  *ret_agent is borrowed from the offer.  PICK_COMMAND: the words are appended to
 * *ret_command.  PICK_NONE: *err says why (err may be NULL).  Pure. */
enum pick_answer pick_parse(const char *line, const struct pick_offer *offer,
			    const struct agent **ret_agent, struct strvec *ret_command,
			    struct error *err);

/* Ask, and put the answer into the order.  This does not ask if the order says what to run, if a
 * default agent is set, with --quick, or if there is no one to ask (no terminal on both sides, or
 * --json).
 * PICK_CANCELLED: the user has changed their mind, and was told that nothing is created. */
enum { PICK_CANCELLED = 1 };
int pick_ask(struct app *app, struct new_order *order, struct error *err);
