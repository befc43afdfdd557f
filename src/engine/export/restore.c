/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/restore.h"

#include "base/log.h"
#include "engine/deck/visit.h"
#include "engine/export/entry.h"
#include "engine/export/preferences.h"
#include "engine/run/stop.h"
#include "model/session/naming.h"

#include <stdlib.h>
#include <string.h>

const char *restore_verdict_name(enum restore_verdict verdict)
{
	static const char *const names[] = {
		[RESTORE_MAKE] = "restore",
		[RESTORE_HERE] = "here",
		[RESTORE_REFUSE] = "refused",
	};
	return names[verdict];
}

void restore_plan_free(struct restore_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->steps[i].title);
		free(plan->steps[i].why);
		free(plan->steps[i].directory);
		free(plan->steps[i].id);
	}
	free(plan->steps);
	strvec_clear(&plan->coming);
	strvec_clear(&plan->told);
	json_object_put(plan->taken);
	json_object_put(plan->claimed);
	unpack_close(&plan->file);
	*plan = RESTORE_NO_PLAN;
}

/* "<title> (2)", of at most as many bytes as a title has.  The caller frees. */
static char *numbered(const char *title, unsigned number)
{
	cleanup_free char *suffix = xasprintf(" (%u)", number);
	const size_t most = NAMING_TITLE_MAX - strlen(suffix);
	size_t length = strlen(title);
	if (length > most)
		length = most;
	/* Not in the middle of a character. */
	while (length > 0 && is_inside_character(title[length]))
		length--;
	return xasprintf("%.*s%s", (int)length, title, suffix);
}

static char *free_title(struct json_object *taken, const struct parcel *parcel)
{
	cleanup_free char *whole = xasprintf("%s/%s", parcel->profile, parcel->title);
	for (unsigned number = 2; json_object_object_get_ex(taken, whole, NULL); number++) {
		cleanup_free char *title = numbered(parcel->title, number);
		free(whole);
		whole = xasprintf("%s/%s", parcel->profile, title);
	}
	json_set_bool(taken, whole, true);
	return xstrdup(whole + strlen(parcel->profile) + 1);
}

static void refuse(struct restore_step *step, enum restore_verdict verdict, const char *why)
{
	step->verdict = verdict;
	replace_string(&step->why, why);
	replace_string(&step->title, NULL);
}

/* The agent is one of the user's own, and comes out of this file. */
static bool brings_agent(const struct unpack_file *file, const struct parcel *parcel)
{
	return strvec_contains(&file->parcels.agents, parcel->agent);
}

/* Letters of a UUID have no case.  The caller frees. */
static char *claim_of(const struct parcel *parcel)
{
	char *claim = xasprintf("%s/%s", parcel->agent, parcel->session_id);
	if (naming_is_uuid(parcel->session_id))
		for (char *c = claim + strlen(parcel->agent); *c; c++)
			*c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
	return claim;
}

/* A conversation has one session, and a title, too: the first one of the file. */
static void take_names(struct restore_plan *plan, struct restore_step *step)
{
	if (step->parcel->session_id) {
		cleanup_free char *claim = claim_of(step->parcel);
		if (json_object_object_get_ex(plan->claimed, claim, NULL)) {
			refuse(step, RESTORE_REFUSE,
			       "another session of the file has its conversation");
			return;
		}
		json_set_bool(plan->claimed, claim, true);
	}
	step->title = free_title(plan->taken, step->parcel);
}

/* A conversation's id alone is of no use in another home. */
static bool is_out_of_reach(const struct entry *entry)
{
	return entry->is_rehomed && !entry->parcel->number && entry->parcel->session_id;
}

/* What is not as it was.  The caller frees; NULL: nothing. */
static char *changes_of(const struct entry *entry)
{
	const struct parcel *parcel = entry->parcel;
	cleanup_strbuf struct strbuf text = { 0 };
	if (entry->is_replaced)
		strbuf_addf(&text, "; its tree is not here, so it works in the repository");
	if (entry->is_rehomed)
		strbuf_addf(&text,
			    "; its agent's home %s cannot be used here: it gets the usual one",
			    parcel->home);
	if (!parcel->number && parcel->session_id)
		strbuf_addf(&text, "; its conversation is not in the file, only its id");
	return text.length ? xstrdup(strbuf_text(&text) + strlen("; ")) : NULL;
}

static void tell_changes(struct restore_step *step, const struct entry *entry)
{
	free(step->why);
	step->why = changes_of(entry);
}

static void refuse_home(struct restore_step *step)
{
	cleanup_free char *why = xasprintf(
		"its conversation is not in the file, and its agent's home %s cannot be used here: "
		"bring that home first",
		step->parcel->home);
	refuse(step, RESTORE_REFUSE, why);
}

/* A step that has its title was looked at before, when its agent was not here yet. */
static void look_at(struct deck *deck, struct restore_plan *plan, const struct known *known,
		    struct restore_step *step)
{
	const struct unpack_file *file = &plan->file;
	cleanup_error struct error why = { 0 };
	cleanup_entry struct entry entry = { .kind = ENTRY_RESTORE, .parcel = step->parcel };
	const struct unpack_order order = { .title = step->title, .moves = plan->moves };
	bool is_there;
	step->awaits_agent = false;
	const bool is_settled = entry_settle(deck, file, &order, &entry, &why) == 0;
	/* Check the owners first: a conversation that a session here has needs no directory. */
	cleanup_error struct error taken = { 0 };
	if (entry_check_owners(&entry, known, &taken) < 0)
		refuse(step, RESTORE_HERE, taken.message);
	else if (is_settled && entry_check_disk(&entry, &is_there, &taken) < 0)
		refuse(step, RESTORE_REFUSE, taken.message);
	else if (!is_settled && entry.launch && !entry.agent && brings_agent(file, step->parcel))
		step->awaits_agent = true;
	else if (!is_settled)
		refuse(step, RESTORE_REFUSE, why.message);
	else if (is_out_of_reach(&entry))
		refuse_home(step);
	else
		tell_changes(step, &entry);
	free(step->directory);
	step->directory = entry.directory ? TAKE_PTR(entry.directory)
					  : entry_moved(plan->moves, step->parcel->directory);
	if (step->verdict == RESTORE_MAKE && !step->title)
		take_names(plan, step);
}

/* A mistake in an option would be found only where a directory does not exist. */
static void tell_useless_moves(struct restore_plan *plan)
{
	const struct parcels *parcels = &plan->file.parcels;
	for (size_t i = 0; plan->moves && i < plan->moves->count; i++) {
		const char *move = plan->moves->items[i];
		bool has_moved = false;
		for (size_t j = 0; j < parcels->count && !has_moved; j++) {
			const struct parcel *parcel = &parcels->items[j];
			has_moved = entry_is_moved(move, parcel->directory) ||
				    entry_is_moved(move, or_empty(parcel->launch_directory)) ||
				    entry_is_moved(move, or_empty(parcel->repository)) ||
				    entry_is_moved(move, or_empty(parcel->home));
		}
		cleanup_free char *shown = visible(move);
		if (!has_moved)
			strvec_pushf(&plan->told, "--map %s: no session of the file is there",
				     shown);
	}
}

/* Titles that are here. */
static struct json_object *titles_of(const struct known *known)
{
	struct json_object *taken = json_object_new_object();
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = &known->sessions[i];
		if (session->is_removed || !session->instance)
			continue;
		cleanup_free char *name = xasprintf("%s/%s", session->profile,
						    session->instance->title);
		json_set_bool(taken, name, true);
	}
	return taken;
}

int restore_look(struct deck *deck, const struct restore_order *order, struct restore_plan *ret,
		 struct error *err)
{
	cleanup_restore_plan struct restore_plan plan = RESTORE_NO_PLAN;
	cleanup_known struct known known = { 0 };
	plan.moves = order->moves;
	if (unpack_open(order->file, &plan.file, err) < 0 ||
	    entry_find_owners(deck, &known, err) < 0)
		return -1;
	preferences_compare(deck, &plan.file.parcels, &plan.coming, &plan.told);
	tell_useless_moves(&plan);
	plan.taken = titles_of(&known);
	plan.claimed = json_object_new_object();
	plan.count = plan.file.parcels.count;
	plan.steps = xcalloc(plan.count + 1, sizeof(*plan.steps));
	for (size_t i = 0; i < plan.count; i++) {
		struct restore_step *step = &plan.steps[i];
		step->parcel = &plan.file.parcels.items[i];
		look_at(deck, &plan, &known, step);
	}
	*ret = plan;
	plan = RESTORE_NO_PLAN;
	return 0;
}

/* ---- making them ------------------------------------------------------------------------------ */

/* The sessions of one profile. */
struct batch {
	struct entry *entries;
	struct restore_step **steps;
	struct lifecycle_new *wishes;
	struct instance **made;
	size_t count;
};

static void batch_clear(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		entry_clear(&batch->entries[i]);
		instance_free(batch->made[i]);
	}
	free(batch->entries);
	free(batch->steps);
	free(batch->wishes);
	free(batch->made);
}
#define cleanup_batch CLEANUP(batch_clear)

static struct batch batch_of(struct restore_plan *plan, const char *profile)
{
	const size_t most = plan->count + 1;
	struct batch batch = {
		.entries = xcalloc(most, sizeof(struct entry)),
		.steps = xcalloc(most, sizeof(struct restore_step *)),
		.wishes = xcalloc(most, sizeof(struct lifecycle_new)),
		.made = xcalloc(most, sizeof(struct instance *)),
	};
	for (size_t i = 0; i < plan->count; i++) {
		struct restore_step *step = &plan->steps[i];
		if (step->verdict != RESTORE_MAKE || !streq(step->parcel->profile, profile))
			continue;
		batch.entries[batch.count] = (struct entry){ .kind = ENTRY_RESTORE,
							     .parcel = step->parcel };
		batch.steps[batch.count++] = step;
	}
	return batch;
}

static int prepare(struct deck *deck, const struct restore_plan *plan, struct batch *batch,
		   struct error *err)
{
	const struct unpack_file *file = &plan->file;
	for (size_t i = 0; i < batch->count; i++) {
		struct entry *entry = &batch->entries[i];
		const struct unpack_order order = { .title = batch->steps[i]->title,
						    .moves = plan->moves };
		bool is_there = false;
		if (entry_settle(deck, file, &order, entry, err) < 0 ||
		    entry_check_disk(entry, &is_there, err) < 0 ||
		    (entry->parcel->number && !is_there && entry_plant(deck, file, entry, err) < 0))
			return error_prefix(err, "%s", batch->steps[i]->title);
		batch->wishes[i] = entry->wish;
	}
	return 0;
}

static int apply_profile(struct deck *deck, struct restore_plan *plan, const char *profile,
			 struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	cleanup_batch struct batch batch = batch_of(plan, profile);
	if (visit_begin(deck, profile, &visit, err) < 0)
		return -1;
	if (prepare(deck, plan, &batch, err) < 0 ||
	    lifecycle_add_many(deck, batch.wishes, batch.count, batch.made, err) < 0) {
		for (size_t i = 0; i < batch.count; i++)
			entry_uproot(deck, batch.entries[i].parcel, batch.entries[i].id);
		return -1;
	}
	for (size_t i = 0; i < batch.count; i++)
		batch.steps[i]->id = xstrdup(batch.made[i]->id);
	return 0;
}

/* A session loses its conversation only when it is gone itself. */
static int take_back_one(struct deck *deck, const struct restore_step *step, struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	if (visit_begin(deck, step->parcel->profile, &visit, err) < 0 ||
	    lifecycle_withdraw(deck, step->id, err) < 0)
		return -1;
	entry_uproot(deck, step->parcel, step->id);
	return 0;
}

/* A later profile failed. */
static void take_back(struct deck *deck, struct restore_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		cleanup_error struct error why = { 0 };
		struct restore_step *step = &plan->steps[i];
		if (step->id && take_back_one(deck, step, &why) < 0)
			deck_warn(deck, "session %s of profile %s was made, and is still there: %s",
				  step->id, step->parcel->profile, why.message);
		replace_string(&step->id, NULL);
	}
}

/* The user's agents are there now. */
static int look_again(struct deck *deck, struct restore_plan *plan, struct error *err)
{
	cleanup_known struct known known = { 0 };
	deck_forget_agents(deck);
	if (entry_find_owners(deck, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].awaits_agent)
			look_at(deck, plan, &known, &plan->steps[i]);
	return 0;
}

int restore_apply(struct deck *deck, struct restore_plan *plan, struct error *err)
{
	cleanup_strvec struct strvec done = { 0 };
	size_t count = 0;
	strvec_clear(&plan->coming);
	if (preferences_restore(deck, &plan->file.parcels, &plan->told, err) < 0 ||
	    look_again(deck, plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->count; i++) {
		const char *profile = plan->steps[i].parcel->profile;
		if (plan->steps[i].verdict != RESTORE_MAKE)
			continue;
		count++;
		if (strvec_contains(&done, profile))
			continue;
		strvec_push(&done, profile);
		if (apply_profile(deck, plan, profile, err) < 0) {
			take_back(deck, plan);
			return -1;
		}
	}
	log_info("restored: %zu sessions of %s", count, or_empty(plan->file.parcels.host));
	return 0;
}
