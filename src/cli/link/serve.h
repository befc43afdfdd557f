/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The far end of a link (docs/link.md): reads frames from standard input, runs commands of this
 * program, and writes what they print as frames.
 */
#pragma once

#include "engine/deck/deck.h"

struct serve_order {
	int input, output;         /* pipes or sockets */
	int64_t silence_ms;        /* it ends when its client says nothing for so long; 0: never */
	struct json_object *facts; /* of its hello; borrowed */
};

/* Serve until the client leaves: it says so, closes its end, is silent, or sends what is no frame.
 * Commands that change something run on; the others end.  Returns 0; -1: the loop failed. */
int serve_run(struct deck *deck, const struct serve_order *order, struct error *err);
