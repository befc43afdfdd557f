/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words that outlive their sessions, in a file of the state directory for each kind.  A journal
 * only grows.
 */
#pragma once

#include "engine/deck/deck.h"

enum journal {
	/* What was imported at any time: the origins (struct import_row).  A session that was
	 * imported and then removed does not come back with the next import. */
	JOURNAL_IMPORTS,
	/* The branches with names of their users that outlive their worktrees:
	 * engine/workspace/branch.h. */
	JOURNAL_BRANCHES,
};

/* There is no such journal: no words. */
int journal_read(const struct deck *deck, enum journal journal, struct strvec *ret,
		 struct error *err);

/* Add these, durably. */
int journal_add(const struct deck *deck, enum journal journal, const struct strvec *words,
		struct error *err);
