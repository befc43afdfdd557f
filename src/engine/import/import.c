/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/import/import.h"

#include "engine/conversation/owner.h"
#include "engine/deck/journal.h"
#include "engine/deck/visit.h"
#include "engine/import/facts.h"
#include "engine/run/add.h"
#include "engine/run/stop.h"

#include <stdlib.h>

void import_look_free(struct import_look *look)
{
	import_plan_free(&look->plan);
	import_rows_free(&look->rows);
	strvec_clear(&look->titles);
	adopt_finds_free(&look->finds);
}

static const char *lookup(const char *name)
{
	return getenv(name);
}

static int read_source(struct deck *deck, const struct foreign_source *source, const char *from,
		       struct import_rows *ret, struct error *err)
{
	const struct foreign_place place = { .home = deck->paths.home,
					     .from = from,
					     .lookup = lookup };
	int r = source->read(&place, ret, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "%s has no sessions in %s", source->name,
				 from ? from : source->about);
	return r;
}

int import_list(struct deck *deck, struct import_offers *ret, struct error *err)
{
	struct import_offers offers = { .items = xcalloc(foreign_count(), sizeof(*offers.items)) };
	bool is_there = false;
	for (size_t i = 0; foreign_sources[i]; i++) {
		const struct foreign_source *source = foreign_sources[i];
		cleanup_import_rows struct import_rows rows = { 0 };
		cleanup_error struct error why = { 0 };
		if (!source->is_offered)
			continue;
		int r = read_source(deck, source, NULL, &rows, &why);
		if (r == 0)
			offers.items[offers.count++] = (struct import_offer){ source, rows.count };
		else if (why.code != ERROR_NOT_FOUND)
			deck_warn(deck, "%s: %s", source->name, why.message);
		is_there |= r == 0 || why.code != ERROR_NOT_FOUND;
	}
	if (!is_there) {
		import_offers_free(&offers);
		return error_set(err, ERROR_NOT_FOUND,
				 "no other program has sessions here: name the program and, with "
				 "--from, where it has its files");
	}
	*ret = offers;
	return 0;
}

/* "<profile>/<title>" of all sessions. */
static int list_titles(struct deck *deck, struct strvec *ret, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		for (size_t j = 0; j < profiles.items[i].rows.count; j++)
			strvec_pushf(ret, "%s/%s", store_profile(profiles.items[i].store),
				     or_empty(profiles.items[i].rows.rows[j].title));
	return 0;
}

/* The wish of a step; words gets its arguments. */
static struct lifecycle_new wish_of(const struct import_step *step, struct strvec *words)
{
	const struct import_row *row = step->row;
	const struct import_id *taken = step->taken;
	const char *home = taken && taken->home ? taken->home
			   : row->homes.count   ? row->homes.items[0]
						: NULL;
	strvec_push_all(words, &row->arguments);
	if (!step->drops_dangers)
		strvec_push_all(words, &row->dangers);
	return (struct lifecycle_new){
		.title = step->title,
		.group = step->group,
		.directory = row->facts.directory,
		.agent = row->tool,
		.argv = &row->argv,
		.arguments = words,
		.session_id = taken ? taken->id : NULL,
		.launch_directory = taken ? taken->directory : NULL,
		.config_home = home,
		.restart = row->is_archived ? "no" : NULL,
		.notes = row->notes,
		.imported_from = row->origin,
		.created_at = row->created_at,
		.last_used_at = row->last_used_at,
	};
}

/* What cannot be made is refused now, so that it does not stop the others later. */
static void check_steps(struct deck *deck, struct import_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct import_step *step = &plan->steps[i];
		cleanup_error struct error why = { 0 };
		cleanup_strvec struct strvec words = { 0 };
		if (!import_is_made(step) && step->verdict != IMPORT_RUNS)
			continue;
		const struct lifecycle_new wish = wish_of(step, &words);
		if (lifecycle_check_new(deck, &wish, &why) == 0)
			continue;
		step->verdict = IMPORT_REFUSE;
		replace_string(&step->why, why.message);
		replace_string(&step->title, NULL);
	}
}

int import_look(struct deck *deck, const struct import_order *order, struct import_look *ret,
		struct error *err)
{
	cleanup_import_look struct import_look look = { 0 };
	cleanup_error struct error why = { 0 };
	if (read_source(deck, order->source, order->from, &look.rows, &why) < 0 &&
	    (why.code != ERROR_NOT_FOUND || !order->may_be_absent))
		return error_move(err, &why);
	if (list_titles(deck, &look.titles, err) < 0 ||
	    facts_gather(deck, &look.rows, &look.finds, err) < 0)
		return -1;
	const struct import_target target = { .profile = deck->profile,
					      .titles = &look.titles,
					      .consent = order->consent };
	import_plan(&look.rows, &target, &look.plan);
	check_steps(deck, &look.plan);
	*ret = look;
	look = (struct import_look){ 0 };
	return 0;
}

/* ---- making them ------------------------------------------------------------------------------ */

/* All steps of one profile. */
static int apply_profile(struct deck *deck, const struct import_plan *plan, const char *profile,
			 struct instance **ret, struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	struct lifecycle_new *wishes = xcalloc(plan->count + 1, sizeof(*wishes));
	struct strvec *words = xcalloc(plan->count + 1, sizeof(*words));
	struct instance **made = xcalloc(plan->count + 1, sizeof(struct instance *));
	size_t count = 0;
	for (size_t i = 0; i < plan->count; i++)
		if (import_is_made(&plan->steps[i]) && streq(plan->steps[i].profile, profile)) {
			wishes[count] = wish_of(&plan->steps[i], &words[count]);
			count++;
		}
	int r = visit_begin(deck, profile, &visit, err);
	if (r == 0)
		r = lifecycle_add_many(deck, wishes, count, made, err);
	for (size_t i = 0, next = 0; r == 0 && i < plan->count; i++)
		if (import_is_made(&plan->steps[i]) && streq(plan->steps[i].profile, profile))
			ret[i] = made[next++];
	for (size_t i = 0; i < count; i++)
		strvec_clear(&words[i]);
	free(words);
	free(wishes);
	free(made);
	return r;
}

/* A later profile failed. */
static void take_back(struct deck *deck, const struct import_plan *plan, struct instance **made)
{
	for (size_t i = 0; i < plan->count; i++) {
		cleanup_visit struct visit visit = { 0 };
		if (made[i] && visit_begin(deck, plan->steps[i].profile, &visit, NULL) == 0)
			(void)lifecycle_withdraw(deck, made[i]->base, NULL);
		instance_free(TAKE_PTR(made[i]));
	}
}

int import_apply(struct deck *deck, const struct import_look *look, struct instance **ret,
		 struct error *err)
{
	const struct import_plan *plan = &look->plan;
	cleanup_strvec struct strvec done = { 0 }, origins = { 0 };
	for (size_t i = 0; i < plan->count; i++)
		ret[i] = NULL;
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_step *step = &plan->steps[i];
		if (import_is_made(step) || step->verdict == IMPORT_DONE)
			strvec_push(&origins, step->row->origin);
		if (!import_is_made(step) || strvec_contains(&done, step->profile))
			continue;
		strvec_push(&done, step->profile);
		if (apply_profile(deck, plan, step->profile, ret, err) < 0) {
			take_back(deck, plan, ret);
			return -1;
		}
	}
	/* Last: killed before this, the sessions themselves say where they are from. */
	return journal_add(deck, JOURNAL_IMPORTS, &origins, err);
}

/* ---- taking over ------------------------------------------------------------------------------ */

static const struct adopt_find *import_find(const struct import_look *look, size_t index)
{
	return &look->finds.finds[look->plan.steps[index].row->facts.find];
}

int import_adopt(struct deck *deck, const struct import_look *look, size_t index,
		 struct instance **ret, struct error *err)
{
	const struct import_step *step = &look->plan.steps[index];
	const struct adopt_find *find = import_find(look, index);
	const struct adopt_order order = { 0 };
	cleanup_visit struct visit visit = { 0 };
	cleanup_strvec struct strvec words = { 0 }, origins = { 0 };
	cleanup_instance struct instance *made = NULL;
	cleanup_taken struct taken taken = { 0 };
	if (step->verdict == IMPORT_DONE)
		return adopt_take(deck, find, &order, ret, err);
	if (adopt_check(find, &order, err) < 0 || visit_begin(deck, step->profile, &visit, err) < 0)
		return -1;
	struct lifecycle_new new = wish_of(step, &words);
	adopt_remember(find, find->session_id, &taken);
	new.taken = &taken;
	if (lifecycle_add_many(deck, &new, 1, &made, err) < 0)
		return -1;
	if (adopt_end(deck, find, find->is_heard, made, err) < 0)
		return adopt_give_up(deck, find, made, err);
	*ret = TAKE_PTR(made);
	strvec_push(&origins, step->row->origin);
	cleanup_error struct error why = { 0 };
	if (journal_add(deck, JOURNAL_IMPORTS, &origins, &why) < 0)
		deck_warn(deck, "%s", why.message);
	return 0;
}

void import_visit_hooks(struct deck *deck, const struct import_order *order,
			enum foreign_removal removal, struct foreign_hooked_files *ret)
{
	const struct foreign_place place = { .home = deck->paths.home,
					     .from = order->from,
					     .lookup = lookup };
	foreign_visit_hooks(order->source, &place, removal, ret);
}
