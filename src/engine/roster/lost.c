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

enum loss { LOSS_NONE, LOSS_IN_RESTART, LOSS_OTHERWISE };

static enum loss loss_of(const struct roster_entry *entry)
{
	const struct store_row *row = &entry->row;
	if (row->damage || row->desired != DESIRED_RUNNING || entry->view.state != STATE_ERROR ||
	    entry->view.is_silent)
		return LOSS_NONE;
	if (row->held)
		return is_hold_over(entry) ? LOSS_IN_RESTART : LOSS_NONE;
	if (row->run.boot_id && place_relation(&row->run) == MACHINE_EARLIER_BOOT)
		return LOSS_IN_RESTART;
	/* A shell in the agent's place runs. */
	return !row->run.server.pid || place_presence(&row->run) == PRESENCE_NONE ? LOSS_OTHERWISE
										  : LOSS_NONE;
}

struct lost roster_lost(const struct roster *roster)
{
	struct lost lost = { 0 };
	for (size_t i = 0; i < roster_count(roster); i++) {
		const enum loss loss = loss_of(roster_at(roster, i));
		lost.in_restart += loss == LOSS_IN_RESTART;
		lost.otherwise += loss == LOSS_OTHERWISE;
	}
	return lost;
}

static void tell(const struct roster *roster, enum loss loss, const char *heading,
		 struct question *question)
{
	bool is_begun = false;
	for (size_t i = 0; i < roster_count(roster); i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		const struct store_row *row = &entry->row;
		if (loss_of(entry) != loss)
			continue;
		if (!is_begun)
			question_add_evidence(question, heading);
		is_begun = true;
		question_add_item(question, "%s (%s)%s%s", or_empty(row->title),
				  or_empty(row->agent), is_empty(row->group) ? "" : " in ",
				  or_empty(row->group));
	}
}

void lost_tell(const struct roster *roster, struct question *question)
{
	tell(roster, LOSS_IN_RESTART, "ended with the last restart of the machine", question);
	tell(roster, LOSS_OTHERWISE, "ended by a kill or a crash", question);
}
