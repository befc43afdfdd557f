/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Starts of sessions: for each command that starts one.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/run/start.h"

/* What a command wants of a start. */
struct start_order {
	const char *base;
	struct lifecycle_order how;
	bool no_supervise; /* do not enable the supervisor */
	bool no_wait;      /* return when the session is saved, without waiting for the agent */
	const struct strvec *tree_changes; /* since it was kept, a line for each; NULL: none */
};

/* Start or restart, wait as ordered, print the result (text or JSON).  A positive value is the exit
 * status. */
int run_start(struct app *app, const struct start_order *order, struct error *err);

/* Like run_start(), but without printing.  *ret is the caller's. */
int start_and_wait(struct app *app, const struct start_order *order, struct lifecycle_started *ret,
		   struct error *err);

/* The JSON of a start: the session, its run, and success, already_running and resumed. */
struct json_object *json_of_start(const struct deck *deck,
				  const struct lifecycle_started *started) MUST_USE;
/* And what only the order has. */
void json_add_changes(struct json_object *object, const struct start_order *order);
/* One line for people. */
void print_start(const struct app *app, const struct lifecycle_started *started);
