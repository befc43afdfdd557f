/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What this machine says about the sessions of another program: directories, agents, conversations
 * on disk and their owners, earlier imports, and what runs now.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/plan/import.h"

/* Fill the facts of each row, and add to its ids what its directory suggests. */
int facts_gather(struct deck *deck, struct import_rows *rows, struct error *err);
