/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Record the end of a run that no process was left to record: its server was killed, or its machine
 * was restarted.  Listing does it.
 *
 * State, reason and since change.  The wish stays, and so does the run, for the next start.  What
 * another process works on, or what cannot be written, stays as it is, without a message.
 */
#pragma once

#include "engine/roster/roster.h"

/* Are the manifests the caller's own?  Those of another user (root looks at them) would become the
 * caller's. */
bool correct_may_write(const struct store *store);

/* One look at the sessions of the order, and what is stored and not true is corrected, for 50 ms at
 * the most.  Rows that were corrected are read again. */
int correct_list(struct deck *deck, const struct roster_order *order, struct roster **ret,
		 struct error *err);
/* Like correct_list(), but for one; store: of its profile.  True: its manifest was changed, and row
 * is as it was before. */
bool correct_row(struct deck *deck, struct store *store, const struct store_row *row);
