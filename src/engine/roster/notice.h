/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notices for a session's user without a program of theirs: on the desktop ([notify] desktop), and
 * in the terminals that are attached to any session of the profile ([notify] bell and osc).
 *
 * Each occasion has one process that gives the notice, so that there is no second one and no
 * supervisor is needed for the first two:
 *
 *   waiting, idle                 whoever records it: the agent's report, or the pane
 *   waiting, idle by the screen   the supervisor
 *   the others                    the supervisor
 */
#pragma once

#include "engine/deck/deck.h"

struct notice {
	const char *occasion; /* as in [notify] on */
	const char *title;
	const char *run_directory; /* NULL: it has no run */
};

/* One sentence about the occasion, for people.  Static. */
const char *notice_text(const char *occasion);

/* Give it, unless nobody wants it or the session's run had the same within 5 s.  It takes 2 s at
 * most for each server that does not answer, and half a second for the desktop.  Failures are
 * logged. */
void notice_give(const struct deck *deck, struct store *store, const struct notice *notice);

/* The notice of a change of what the agent does, if the change is an occasion. */
void notice_activity(const struct deck *deck, struct store *store, const char *base,
		     enum instance_activity before, enum instance_activity now);
