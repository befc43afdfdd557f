/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages that wait in the manifest until their agent is idle: `agentdeck send --when-idle`.
 *
 * Each is typed once.  The intent is saved before the first key, and the message leaves the queue
 * when the agent has it.  A process that ends in between leaves the intent, which the next one
 * turns into "unknown": then the queue stops until its user takes that message out.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/screen/deliver.h"
#include "model/plan/queue.h"

struct queue_order {
	const char *base;
	const char *text; /* display_clean() */
	bool is_raw;      /* as in struct delivery_request */
};

struct queue_said {
	bool was_typed; /* then result says what came of it */
	struct delivery_result result;
	enum queue_verdict verdict; /* else: why not */
};
void queue_said_free(struct queue_said *said);
#define cleanup_queue_said CLEANUP(queue_said_free)

struct queue_place {
	char id[16];
	size_t count; /* messages in the queue; it is the last */
	struct queue_said said;
};
#define cleanup_queue_place CLEANUP(queue_place_free)
void queue_place_free(struct queue_place *place);

/* Put it at the end of the queue, durably.  Then type the first message, if it may be typed, as
 * lifecycle_say_queued() does; an error of that is only logged, and ret->said is empty unless that
 * message is this one.  QUEUE_ASLEEP: the session sleeps, and nothing was done.  ERROR_INVALID: the
 * queue is full, nothing can tell when the agent is idle, or as of deliver(); ERROR_USAGE: the text
 * is too long. */
enum { QUEUE_ASLEEP = 1 };
int lifecycle_queue(struct deck *deck, const struct queue_order *order, struct queue_place *ret,
		    struct error *err);

/* Type the next message, if it may be typed now.  It does not wait for the agent to be ready. */
int lifecycle_say_queued(struct deck *deck, const char *base, struct queue_said *ret,
			 struct error *err);

/* What the next message waits for. */
enum queue_verdict lifecycle_queue_verdict(const struct deck *deck,
					   const struct instance *instance);
/* From when on lifecycle_say_queued() is worth a try, µs since the Epoch; 0: never. */
int64_t lifecycle_queue_due_us(const struct deck *deck, const struct instance *instance);
/* The state of a message: an intent whose process has ended is "unknown". */
enum queued_state lifecycle_queued_state(const struct instance *instance,
					 const struct queued *queued);

/* Take messages out: this one, or all (NULL).  ERROR_NOT_FOUND: there is none of this id.
 * ERROR_BUSY: one of them is typed at this moment. */
int lifecycle_cancel_queued(struct deck *deck, const char *base, const char *id, size_t *ret_count,
			    struct error *err);
