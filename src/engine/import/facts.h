/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What this machine says about the sessions of another program: directories, agents, conversations
 * on disk and their owners, earlier imports, and what runs now.
 */
#pragma once

#include "engine/adopt/adopt.h"
#include "engine/deck/deck.h"
#include "model/plan/import.h"

/* Fill the facts of each row, and add to its ids what its directory suggests, and what it has open.
 * *ret, the caller's: what runs, by the numbers in the facts. */
int facts_gather(struct deck *deck, struct import_rows *rows, struct adopt_finds *ret,
		 struct error *err);
