/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/conflict.h"

#include "cli/cmd/decide.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "engine/adopt/adopt.h"
#include "engine/deck/visit.h"

void conflict_outcome_clear(struct conflict_outcome *outcome)
{
	free(outcome->base);
	free(outcome->profile);
	*outcome = (struct conflict_outcome){ 0 };
}

static int copy(struct app *app, const struct asking *asking, struct conflict_outcome *ret,
		struct error *err)
{
	cleanup_instance struct instance *fork = NULL;
	if (lifecycle_fork(&app->deck, asking->instance->base, &(struct lifecycle_branch){ 0 },
			   &fork, err) < 0)
		return -1;
	ret->way = CONFLICT_COPY;
	ret->base = xstrdup(fork->base);
	return 0;
}

static int stop_holder(struct app *app, const struct conversation_holder *holder, struct error *err)
{
	const struct lifecycle_seen seen = { .server = holder->server, .pane = holder->pane };
	cleanup_visit struct visit visit = { 0 };
	const struct stop_order order = { .seen = &seen, .takes_over = app->takes_over };
	bool was_running;
	if ((holder->profile && visit_begin(&app->deck, holder->profile, &visit, err) < 0) ||
	    lifecycle_stop(&app->deck, holder->base, &order, &was_running, err) < 0)
		return -1;
	if (!app->json)
		say("%s: %s", holder->title, was_running ? "stopped" : "was not running");
	return 0;
}

/* The session itself has no run; a stop ends what its agent left. */
static int end_background(struct app *app, const struct instance *instance, struct error *err)
{
	const struct lifecycle_seen seen = { .server = instance->run.server,
					     .pane = instance->run.pane };
	const struct stop_order order = { .seen = &seen, .takes_over = app->takes_over };
	bool was_running;
	if (lifecycle_stop(&app->deck, instance->base, &order, &was_running, err) < 0)
		return -1;
	if (!app->json)
		say("%s: its background was ended", instance->title);
	return 0;
}

static int take_over(struct app *app, const struct asking *asking, struct error *err)
{
	CLEANUP(adopt_finds_free) struct adopt_finds finds = { 0 };
	cleanup_instance struct instance *joined = NULL;
	const struct adopt_wish wish = { 0 };
	const struct instance *instance = asking->instance;
	if (adopt_look(&app->deck, &finds, err) < 0)
		return -1;
	const struct adopt_find *find = adopt_joining(&finds, &asking->conflict.process, instance);
	if (!find)
		return error_set(err, ERROR_INVALID,
				 "process %d cannot be taken over any more: look again with "
				 "agentdeck adopt",
				 (int)asking->conflict.process.pid);
	if (adopt_check(find, &wish, err) < 0 ||
	    adopt_take(&app->deck, find, &wish, &joined, err) < 0)
		return -1;
	if (!app->json)
		say("%s: process %d has ended", instance->title, (int)asking->conflict.process.pid);
	return 0;
}

static int take(struct app *app, const struct asking *asking, struct error *err)
{
	const struct conflict *conflict = &asking->conflict;
	switch (conflict->kind) {
	case CONFLICT_SESSION:
		return stop_holder(app, &conflict->holder, err);
	case CONFLICT_BACKGROUND:
		return end_background(app, asking->instance, err);
	case CONFLICT_PROCESS:
		return take_over(app, asking, err);
	default:
		return error_set(err, ERROR_INVALID,
				 "that process runs on another machine: end it there");
	}
}

static bool has_choice(const struct asking *asking, enum choice_kind choice)
{
	const struct question *question = &asking->questions.items[0];
	for (size_t i = 0; i < question->choice_count; i++)
		if (question->choices[i].kind == choice)
			return true;
	return false;
}

int conflict_carry_out(struct app *app, const struct asking *asking, enum choice_kind choice,
		       struct conflict_outcome *ret, struct error *err)
{
	const struct conversation_holder *holder = &asking->conflict.holder;
	if (!has_choice(asking, choice))
		return error_set(err, ERROR_INVALID, "%s cannot be done here",
				 choice_kind_name(choice));
	switch (choice) {
	case CHOICE_ATTACH:
		ret->way = CONFLICT_ATTACH;
		ret->base = xstrdup(holder->base);
		ret->profile = xstrdup_or_null(holder->profile);
		return 0;
	case CHOICE_FORK:
		return copy(app, asking, ret, err);
	case CHOICE_TAKE:
		ret->way = CONFLICT_START;
		return take(app, asking, err);
	default:
		ret->way = CONFLICT_LEAVE;
		return 0;
	}
}

/* Ask again: the owner of the conversation has changed. */
enum { CONFLICT_AGAIN = 1 };
static int decide_once(struct app *app, const struct store_row *row,
		       const struct lifecycle_order *order, struct conflict_outcome *ret,
		       struct error *err)
{
	cleanup_asking struct asking asking = { 0 }, now = { 0 };
	const struct choice *choice = NULL;
	if (asking_of_conflict(&app->deck, row->base, order, &asking, err) < 0)
		return -1;
	if (asking.questions.about == ABOUT_NOTHING)
		return 0;
	int r = ask_question(&asking.questions.items[0], &choice, err);
	if (r < 0)
		return -1;
	if (r == ASK_CANCELLED || choice->kind == CHOICE_KEEP) {
		complain("%s was not started", asking.instance->title);
		ret->way = CONFLICT_LEAVE;
		return 0;
	}
	if (asking_of_conflict(&app->deck, row->base, order, &now, err) < 0)
		return -1;
	if (now.questions.about == ABOUT_NOTHING && choice->kind != CHOICE_TAKE) {
		complain("the conversation of %s is free now, so nothing was done",
			 asking.instance->title);
		ret->way = CONFLICT_LEAVE;
		return 0;
	}
	if (!streq(or_empty(now.questions.seen), asking.questions.seen))
		return CONFLICT_AGAIN;
	return conflict_carry_out(app, &now, choice->kind, ret, err);
}

int conflict_decide(struct app *app, const struct store_row *row,
		    const struct lifecycle_order *order, struct conflict_outcome *ret,
		    struct error *err)
{
	int r;
	if (!decide_may_ask(app) || row->damage)
		return 0;
	while ((r = decide_once(app, row, order, ret, err)) == CONFLICT_AGAIN)
		complain("the owner of the conversation has changed: choose again");
	return r;
}
