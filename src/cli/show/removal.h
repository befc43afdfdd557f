/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is said of a session that was removed.
 */
#pragma once

#include "engine/deck/deck.h"

/* "Removed api (ID). ... To restore the session: agentdeck undo": what is kept of it, and until
 * when.  instance: as it was; NULL: not read.  is_last: undo without a name means this removal.
 * The caller frees. */
char *removal_text(const struct deck *deck, const struct store_row *row,
		   const struct instance *instance, bool is_last) MUST_USE;
