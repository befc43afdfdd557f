/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * May the next message of a session's queue be typed now?
 *
 * Only if its agent is idle and nothing else comes first, and one for each time that it is idle:
 * the next one follows the turn that answers the last.  Pure.
 */
#pragma once

#include "model/session/instance.h"

/* What is known.  Zero is what is not known. */
struct queue_facts {
	size_t count;
	enum queued_state head; /* of the next one */
	bool is_running;        /* its agent runs, as far as is known */
	enum instance_activity activity;
	int64_t since_us;         /* of the activity, since the Epoch */
	int64_t prompts;          /* that its user has typed ahead: they come first */
	bool is_limited;          /* its last turn ended with a usage limit */
	int64_t limited_until_us; /* since the Epoch; 0: it is not known when that ends */
	bool has_failed;          /* its last turn ended with another error */
	bool continues;           /* "continue" comes first, after the limit */
	int64_t said_us;          /* when the last one was typed, since the Epoch; 0: none was */
	int64_t now_us;
};

enum queue_verdict {
	QUEUE_SAY,
	QUEUE_EMPTY,
	QUEUE_STUCK, /* the next one may have been typed: its user is to decide */
	QUEUE_REST,  /* its agent does not run */
	QUEUE_UNKNOWN,
	QUEUE_BUSY,
	QUEUE_ASKS,
	QUEUE_PROMPTS,
	QUEUE_LIMITED,
	QUEUE_FAILED,  /* the next message would fail, too */
	QUEUE_SETTLES, /* it is idle for less than a moment: another turn may follow */
	QUEUE_ANSWERS, /* the last one was typed, and the turn that answers it has not ended */
	QUEUE_COUNT
};

enum queue_verdict queue_decide(const struct queue_facts *facts);
/* What the next one waits for, a clause for people.  Static. */
const char *queue_why(enum queue_verdict verdict);
/* From when on it is worth a try, if nothing changes, since the Epoch; 0: never. */
int64_t queue_due_us(const struct queue_facts *facts);
