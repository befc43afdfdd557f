/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The variables that a role asks its user for.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/place/container/resolve.h"

/* The lists of an order, with the answers.  Its own ones are copied. */
struct role_answers {
	struct strvec environment, secrets;
};
void role_answers_clear(struct role_answers *answers);
#define cleanup_role_answers CLEANUP(role_answers_clear)

/* Ask what the order does not say yet, and put it into the order, which then borrows from *ret.
 * Without a terminal the defaults count.  ERROR_USAGE: a variable has none. */
int role_ask_variables(struct app *app, struct container_order *order, struct role_answers *ret,
		       struct error *err);
