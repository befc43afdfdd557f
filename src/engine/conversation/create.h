/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For agents that make an empty conversation on demand and print its id: session.create in the
 * registry.
 */
#pragma once

#include "engine/deck/deck.h"

struct place_order; /* engine/place/place.h */

/* Have the agent make a conversation for the instance, where its prepared run will be
 * (run_command() in engine/place/place.h).  The program is the user's own where the instance calls
 * the agent by its name. 30 s. ERROR_UNAVAILABLE: no such program; ERROR_TIMEOUT; ERROR_CHILD: it
 * failed or printed no id that it would take: the message names the command, what it said, and what
 * to do.  *ret is the caller's. */
int create_conversation(struct deck *deck, struct instance *instance,
			const struct place_order *order, char **ret, struct error *err);
