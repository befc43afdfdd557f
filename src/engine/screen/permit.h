/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Giving or refusing a permission that an agent asks for.
 *
 * A person decides, and only about the question that the person has seen: its digest comes back
 * with the answer.  A key is pressed only while the agent reports that it waits, if it reports at
 * all, and exactly that question ends its screen (model/agent/permission.h); the lock of
 * engine/screen/recipient.h keeps other senders away.  Whatever is missing is a refusal that says
 * why, and nothing is pressed.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/agent/permission.h"

enum permit_answer { PERMIT_APPROVE, PERMIT_DENY };

struct permit_request {
	const char *base;
	enum permit_answer answer;
	const char *digest; /* of the question that is answered: permit_look() */
	const char *choice; /* where the question has choices, the key of one of them, or NULL */
};

/* The question on the screen now, or, while no report denies it, in the next 3 s: agents report
 * before they draw.  The caller frees *ret.  As recipient_open(), and
 * ERROR_INVALID: the registry does not say how this agent asks, it reports and does not report that
 * it waits, or no question that we know is on its screen as a whole; ERROR_TIMEOUT: its server does
 * not answer. */
int permit_look(struct deck *deck, const char *base, struct permission *ret, struct error *err);

/* Answer it, and wait up to 5 s until it is gone.  As permit_look(), and ERROR_INVALID: the
 * question is another one, or has no such choice; ERROR_BUSY: another agentdeck is sending to the
 * agent; ERROR_DELIVERY: the key was pressed and it cannot be known whether they had an effect. */
int permit_answer(struct deck *deck, const struct permit_request *request, struct error *err);
