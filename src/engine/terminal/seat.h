/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Seats: who is attached from another machine, and to what (docs/link.md).  The terminal there has
 * the same seat after its link was lost.  So it gets the session that it showed last, and what is
 * left of its earlier attach is ended here.
 */
#pragma once

#include "base/process.h"
#include "engine/deck/deck.h"

/* What the seat showed last.  Zero-initialised is nothing: it is a new one. */
struct seat {
	char *id; /* of the session; NULL: nothing */
	struct process_id server;
};
void seat_free(struct seat *seat);
#define cleanup_seat CLEANUP(seat_free)

/* Take the seat of this name.  The process that had it is ended, with its tmux client.  Notes of
 * others that did not return for 30 days are removed. ERROR_USAGE: it is no name. */
int seat_take(const struct deck *deck, const char *name, struct seat *ret, struct error *err);
/* Write down that this process shows the run of the instance.  name NULL: do nothing. */
void seat_note(const struct deck *deck, const char *name, const struct instance *instance);
/* The user has detached, and so does not return.  An end of the session or of the process is no
 * reason for this: the link may be lost without a word, and then the user does not know of it. */
void seat_leave(const struct deck *deck, const char *name);
