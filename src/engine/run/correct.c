/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/correct.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/transition.h"
#include "engine/place/alive.h"
#include "engine/roster/statusline.h"
#include "engine/roster/view.h"
#include "engine/run/operation.h"
#include "model/plan/restart.h"

#include <sys/stat.h>

enum { CORRECT_MS = 50 };

bool correct_may_write(const struct store *store)
{
	struct stat st;
	return fstat(store_profile_directory(store), &st) == 0 && st.st_uid == geteuid();
}

/* The starting half of a restart is still to come: its command does it, or the supervisor or
 * recover if that was killed. */
static bool is_half_restarted(enum instance_state state, enum instance_desired desired)
{
	return state_is_restarting(state, desired);
}

static bool is_to_be_corrected(const struct place_run *run, enum instance_state state,
			       enum instance_desired desired, const char **ret_why)
{
	enum instance_state now;
	return !is_half_restarted(state, desired) && view_is_over(run, state, &now, ret_why);
}

/* The manifest is wrong although the server runs: a user has edited it or put an older one
 * back. */
static bool is_mistaken(struct deck *deck, struct store_lock *lock, struct instance *instance)
{
	const struct operation operation = { .deck = deck, .lock = lock, .instance = instance };
	const struct place *place;
	if (!state_is_running(instance->observed.state) || place_find(instance, &place, NULL) < 0)
		return false;
	const struct observation seen = place->observe(deck, instance, OBSERVE_PROCESS);
	return seen.presence == PRESENCE_ALIVE &&
	       operation_note_alive(&operation, &seen, NULL) == 0;
}

/* The run stays as it is written: the next start ends what it left behind, and reads its attempts.
 * True: the manifest was changed. */
static bool correct(struct deck *deck, struct store *store, const char *base)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const char *why;
	if (!correct_may_write(store) || store_lock(store, base, 0, &lock, NULL) != 0 ||
	    deck_check_main(deck, NULL) < 0 || store_load_locked(lock, &instance, NULL) != 0)
		return false;
	const struct place_run run = place_run_of(instance);
	const enum instance_state state = instance->observed.state;
	if (!is_to_be_corrected(&run, state, instance->desired, &why) ||
	    /* A stop is over when nothing of the run is left, and not before. */
	    (state_is_stopping(state) && !place_is_empty(&run)))
		return false;
	if (is_mistaken(deck, lock, instance))
		return true;
	log_set_instance(instance->id);
	const enum instance_activity before = statusline_activity(instance->run.directory);
	cleanup_free char *reason = restart_end_text(instance, &deck->settings, why);
	const bool is_recorded = transition(lock, instance, EVENT_LOST, reason, NULL) == 0;
	if (is_recorded)
		statusline_follow(store, base, before, ACTIVITY_UNKNOWN);
	log_set_instance(NULL);
	return is_recorded;
}

bool correct_row(struct deck *deck, struct store *store, const struct store_row *row)
{
	const char *why;
	return !row->damage && is_to_be_corrected(&row->run, row->state, row->desired, &why) &&
	       correct(deck, store, row->base);
}

int correct_list(struct deck *deck, const struct roster_order *order, struct roster **ret,
		 struct error *err)
{
	cleanup_roster struct roster *roster = NULL;
	bool is_stale = false;
	if (roster_open(deck, order, NULL, NULL, &roster, err) < 0 || roster_read(roster, err) < 0)
		return -1;
	const int64_t deadline = clock_ms() + CORRECT_MS;
	for (size_t i = 0; i < roster_count(roster) && clock_ms() < deadline; i++) {
		struct roster_entry *entry = roster_at(roster, i);
		if (!correct_row(deck, entry->store, &entry->row))
			continue;
		roster_look(entry);
		is_stale = true;
	}
	if (is_stale && roster_read(roster, err) < 0)
		return -1;
	*ret = TAKE_PTR(roster);
	return 0;
}
