/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck in another of its profiles, for what makes sessions in several.
 */
#pragma once

#include "engine/deck/deck.h"

struct visit {
	struct deck *deck;
	char *profile; /* of before; NULL: it is the deck's own */
	struct store *store;
};

/* The deck is in this profile, which is made if it does not exist, until visit_end(). */
int visit_begin(struct deck *deck, const char *profile, struct visit *ret, struct error *err);
void visit_end(struct visit *visit);
#define cleanup_visit CLEANUP(visit_end)
