/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was imported at any time: <state>/imports.json.  A session that was imported and then
 * removed does not come back with the next import.
 */
#pragma once

#include "engine/deck/deck.h"

/* The origins (struct import_row).  There is no journal: none. */
int journal_read(const struct deck *deck, struct strvec *ret, struct error *err);

/* Add these, durably. */
int journal_add(const struct deck *deck, const struct strvec *origins, struct error *err);
