/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sending a message to an agent, and proving that the agent took it.
 *
 * The text is pasted once and never again; the submit key may be pressed again as long as the text
 * is still in the agent's input box, and never while the agent asks something.  The proof is
 * the agent's own report of a prompt (or of another conversation, as after /clear); for an agent
 * that does not report it is the screen.  Where the box is known (has_box in the registry) nothing
 * is typed without seeing it empty, and a delivery is over when it holds the text no more.  Senders
 * are served in the order of their calls.
 */
#pragma once

#include "engine/deck/deck.h"

enum delivery {
	DELIVERY_SUBMITTED,  /* proven */
	DELIVERY_TYPED,      /* the text is in the input box and was not taken */
	DELIVERY_UNVERIFIED, /* it was pasted and submitted, and nothing proves that it was taken */
	DELIVERY_NOT_READY,  /* nothing was sent: the agent was not ready, or asks something */
	DELIVERY_DRAFT,      /* nothing was sent: a text of the user's is in the input box */
	DELIVERY_FAILED,     /* it could not be pasted */
	DELIVERY_COUNT
};
const char *delivery_name(enum delivery delivery);

enum { DELIVER_MAX = 8 << 20 };

struct delivery_request {
	const char *base;
	const char *text; /* display_clean() */
	size_t length;
	int64_t timeout_ms;
	/* false: give up at once when the agent is not ready, is in the middle of a turn, or when
	 * another is sending to it. */
	bool wait;
	bool replace_draft; /* what is in the input box is deleted first */
};

struct delivery_result {
	enum delivery delivery;
	char *reason;     /* why it is not "submitted": one clause for people; NULL when it is */
	char *session_id; /* of the conversation afterwards; NULL when there is none */
};
void delivery_result_free(struct delivery_result *result);
#define cleanup_delivery_result CLEANUP(delivery_result_free)

/* Only what prevents any try is an error: ERROR_NOT_FOUND: the instance was removed; ERROR_INVALID:
 * it is not running, or a shell is in the agent's place; ERROR_TIMEOUT: its server does not
 * answer. */
int deliver(struct deck *deck, const struct delivery_request *request, struct delivery_result *ret,
	    struct error *err);
