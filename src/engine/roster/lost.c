/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/lost.h"

#include "engine/place/alive.h"
#include "model/plan/restart.h"

/* Has the restart of the machine ended what it was held for?  A row does not say
 * for what kind of reason it is held. */
static bool is_hold_over(const struct roster_entry *entry)
{
	cleanup_instance struct instance *instance = NULL;
	return store_load(entry->store, entry->row.base, &instance, NULL) == 0 &&
	       instance->observed.held && !restart_is_held(instance, instance_relation(instance));
}

struct lost roster_lost(const struct roster *roster)
{
	struct lost lost = { 0 };
	for (size_t i = 0; i < roster_count(roster); i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		const struct store_row *row = &entry->row;
		const struct place_run run = place_run_of_row(row);
		if (row->damage || row->desired != DESIRED_RUNNING ||
		    entry->view.state != STATE_ERROR || entry->view.is_silent)
			continue;
		if (row->held)
			lost.in_restart += is_hold_over(entry);
		else if (run.boot_id && place_relation(&run) == MACHINE_EARLIER_BOOT)
			lost.in_restart++;
		/* A shell in the agent's place runs. */
		else if (!run.server.pid || place_presence(&run) == PRESENCE_NONE)
			lost.otherwise++;
	}
	return lost;
}
