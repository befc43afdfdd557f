/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run `agentdeck look` when a screen that the deck or the wall has just captured shows another
 * activity than the stored one (engine/screen/activity.h).  It stores the new one.  One look runs
 * at a time, because each is a process.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/main/errand.h"

struct glance {
	struct errands *errands;
	struct deck *deck;
	const struct roster *roster;
	bool is_running;
	/* The ids of sessions whose screen differed while a look ran, each once, in that order.
	 * Each is looked at later: a screen that does not change again is not captured again. */
	struct strvec missed;
};
/* styled: the screen as captured, with escape sequences.  A session that does not run is left
 * alone. What the look has stored comes back through the roster. */
void glance_at(struct glance *glance, const char *id, const char *styled);
void glance_free(struct glance *glance);
