/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions of other programs become sessions of agentdeck: what `agentdeck import` does.
 *
 * Looking changes nothing.  Importing makes sessions, and changes nothing of the other program's.
 * Its hooks in the agents' settings are removed only on request.
 * Each session remembers what it was made from, so a second import makes none twice.
 */
#pragma once

#include "driver/foreign/foreign.h"
#include "engine/adopt/adopt.h"
#include "engine/deck/deck.h"
#include "model/plan/import.h"

#include <stdlib.h>

struct import_order {
	const struct foreign_source *source;
	const char *from; /* where it has its files; NULL: the usual place */
	/* The program may have no sessions: its user wants its hooks removed. */
	bool may_be_absent;
	struct import_consent consent;
};

struct import_look {
	struct import_rows rows;
	struct import_plan plan; /* borrows from the rows */
	struct adopt_finds finds;
	struct strvec titles;
};
void import_look_free(struct import_look *look);
#define cleanup_import_look CLEANUP(import_look_free)

/* A program that has sessions in its usual place. */
struct import_offer {
	const struct foreign_source *source;
	size_t count;
};
struct import_offers {
	struct import_offer *items;
	size_t count;
};
static inline void import_offers_free(struct import_offers *offers)
{
	free(offers->items);
}
#define cleanup_import_offers CLEANUP(import_offers_free)

/* Which programs have sessions here?  One that cannot be read becomes a warning.  ERROR_NOT_FOUND:
 * none.  *ret is the caller's. */
int import_list(struct deck *deck, struct import_offers *ret, struct error *err);

/* Read the source, compare it with this machine, and plan.  ERROR_NOT_FOUND: nothing is there. */
int import_look(struct deck *deck, const struct import_order *order, struct import_look *ret,
		struct error *err);

/* Make the sessions of the plan: all of them, or after a failure none.  Killed half-way, a second
 * import makes the others.  ret: for each step its session, or NULL; the caller's. */
int import_apply(struct deck *deck, const struct import_look *look, struct instance **ret,
		 struct error *err);

/* Take the agent of this step over, for which import_can_adopt(): make its session, if there is
 * none yet, and end the process, as adopt_take() does.  The caller starts the session.  After an
 * error the agent still runs, and there is no session that was not there before, unless the error
 * says that the process has ended.  *ret is the caller's. */
int import_adopt(struct deck *deck, const struct import_look *look, size_t index,
		 struct instance **ret, struct error *err);

/* Show or remove the hooks of the source, which it must have: see foreign_visit_hooks(). */
void import_visit_hooks(struct deck *deck, const struct import_order *order,
			enum foreign_removal removal, struct foreign_hooked_files *ret);
