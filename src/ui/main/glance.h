/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a screen that the deck shows tells about its agent: where that differs from what is known,
 * and the screen counts (engine/screen/activity.h), `agentdeck look` stores it.  One at a time.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/main/errand.h"

struct glance {
	struct errands *errands;
	struct deck *deck;
	bool is_running;
};
/* styled: as it was captured.  The roster tells what has come of it. */
void glance_at(struct glance *glance, const struct store_row *row, const char *styled);
