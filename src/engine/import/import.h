/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions of other programs become sessions of agentdeck: what `agentdeck import` does.
 *
 * Looking changes nothing.  Importing makes sessions, and changes nothing of the other program's.
 * Each session remembers what it was made from, so a second import makes none twice.
 */
#pragma once

#include "driver/foreign/foreign.h"
#include "engine/deck/deck.h"
#include "model/plan/import.h"

struct import_order {
	const struct foreign_source *source; /* NULL: every one that is there */
	const char *from;                    /* where it has its files; NULL: the usual place */
	struct import_consent consent;
};

struct import_look {
	struct import_rows rows;
	struct import_plan plan; /* borrows from the rows */
	struct strvec titles;
};
void import_look_free(struct import_look *look);
#define cleanup_import_look CLEANUP(import_look_free)

/* Read the sources, compare them with this machine, and plan.  ERROR_NOT_FOUND: nothing is there.
 * Of several sources, one that cannot be read becomes a warning. */
int import_look(struct deck *deck, const struct import_order *order, struct import_look *ret,
		struct error *err);

/* Make the sessions of the plan: all of them, or after a failure none.  Killed half-way, a second
 * import makes the others.  ret: for each step its session, or NULL; the caller's. */
int import_apply(struct deck *deck, const struct import_look *look, struct instance **ret,
		 struct error *err);
