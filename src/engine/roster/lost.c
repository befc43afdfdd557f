/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/lost.h"

#include "engine/place/alive.h"

struct lost roster_lost(const struct roster *roster)
{
	struct lost lost = { 0 };
	for (size_t i = 0; i < roster_count(roster); i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		const struct store_row *row = &entry->row;
		const struct place_run run = place_run_of_row(row);
		if (row->damage || row->held || row->desired != DESIRED_RUNNING ||
		    entry->view.state != STATE_ERROR || entry->view.is_silent)
			continue;
		if (run.boot_id && place_relation(&run) == MACHINE_EARLIER_BOOT)
			lost.in_restart++;
		/* A shell in the agent's place runs. */
		else if (!run.server.pid || place_presence(&run) == PRESENCE_NONE)
			lost.otherwise++;
	}
	return lost;
}
