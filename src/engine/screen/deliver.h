/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sending a message to an agent, and proving that the agent took it.
 *
 * The text is pasted once and never again; the submit key may be pressed again as long as the text
 * is still in the agent's input box, and never while the agent asks something.  The proof is
 * the agent's own report of a prompt (or of another conversation, as after /clear), its transcript,
 * or, for an agent that does not report, its input box.  Where the box is known (has_box in the
 * registry) nothing is typed without seeing it empty.  The submit key is pressed only while it
 * holds exactly our text: behind a text that the user has typed meanwhile, ours is taken out again.
 * A delivery that is proven waits until a known box no longer holds the text, or the time is over.
 * Senders are served in the order of their calls.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/screen/said.h"

enum delivery {
	/* proven; or the agent ended after a command, or after a text where it reports nothing and
	 * a user watched */
	DELIVERY_SUBMITTED,
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
	/* false: give up soon (READY_IMPATIENT_MS) when the agent is not ready, is in the middle of
	 * a turn, or when another is sending to it. */
	bool wait;
	bool replace_draft; /* what is in the input box is deleted first */
	bool needs_reply;   /* DELIVERY_NOT_READY where its transcript cannot be read */
	/* also a text that brings the box into another mode, in which it is no message (mode_text
	 * in the registry) */
	bool is_raw;
	/* For a message that no user waits for.  Called when the agent is ready, before the first
	 * key.  Not 0: nothing is sent (DELIVERY_NOT_READY), because of err.  Else the screen is
	 * looked at once more, and nothing is sent to an agent that is not idle.  NULL: no such
	 * call. */
	int (*begin)(void *context, struct error *err);
	void *context;
};

struct delivery_result {
	enum delivery delivery;
	char *reason;     /* why it is not "submitted": one clause for people; NULL when it is */
	char *session_id; /* of the conversation afterwards; NULL when there is none */
	struct said_mark mark; /* from before the message */
	bool is_command;       /* the agent takes it for itself: no prompt need follow */
};
void delivery_result_free(struct delivery_result *result);
#define cleanup_delivery_result CLEANUP(delivery_result_free)

/* Is the text a message to this agent?  ERROR_INVALID: it begins another mode of its input box,
 * such as that of a shell, and is_raw does not say that this is meant. */
int deliver_check_text(const struct agent *agent, const char *text, bool is_raw, struct error *err);

/* Fails only if no attempt is possible.  ERROR_NOT_FOUND: the instance was removed. ERROR_INVALID:
 * it is not running, a shell is in the agent's place, or the text is no message and not meant to be
 * raw.  ERROR_TIMEOUT: its server does not answer. */
int deliver(struct deck *deck, const struct delivery_request *request, struct delivery_result *ret,
	    struct error *err);
