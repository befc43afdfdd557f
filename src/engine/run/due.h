/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages that agentdeck sends to an agent by itself: "continue" after a usage limit, and those
 * that wait until it is idle (queue.h).
 *
 * Nothing is said twice: the intent is written before the first key.  Nothing is typed over a
 * question, a draft or a turn; then the next try says it.
 */
#pragma once

#include "engine/deck/deck.h"

/* A limit ends within the minute that the agent has named. */
enum { DUE_MARGIN_S = 60 };

enum due {
	DUE_NOTHING, /* or not yet */
	DUE_LATER,   /* its agent was not ready; nothing was said */
	DUE_SAID,
	DUE_UNKNOWN, /* it was typed, and nothing proves that the agent took it */
	DUE_COUNT
};
const char *due_name(enum due due);

/* Say what is due.  It waits for a reply of the agent's screen, and not for the agent. */
int lifecycle_say_due(struct deck *deck, const char *base, enum due *ret, struct error *err);
