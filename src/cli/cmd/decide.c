/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/decide.h"

#include "cli/cmd/asking.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "engine/adopt/adopt.h"
#include "engine/deck/hint.h"
#include "engine/deck/visit.h"
#include "engine/run/fork.h"
#include "engine/run/stop.h"

#include <string.h>

void decision_clear(struct decision *decision)
{
	free(decision->base);
	free(decision->profile);
	*decision = (struct decision){ 0 };
}

bool decide_may_ask(const struct app *app)
{
	return !app->json && ask_is_possible();
}

/* CHOICE_NONE: not answered. */
static int ask(const struct question *question, enum choice_kind *ret, struct error *err)
{
	const struct choice *choice = NULL;
	int r = ask_question(question, &choice, err);
	*ret = r == 0 ? choice->kind : CHOICE_NONE;
	return r < 0 ? -1 : 0;
}

static void say_how(const struct app *app, const struct instance *instance, const char *what)
{
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	complain("%s ended, %s. Its work is in %s", instance->title, what,
		 instance->workspace ? instance->workspace->path : instance->cwd);
	complain("to continue:   agentdeck attach %s", hint);
	complain("to keep it:    agentdeck session set %s on-end keep", hint);
	complain("to give it up: agentdeck remove --discard %s", hint);
}

/* Ask them one after the other.  *ret becomes the answer to the last one, or CHOICE_NONE when one
 * was not answered.  Without questions, *ret stays as it was. */
static int ask_all(const struct asking *asking, enum choice_kind *ret, struct error *err)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < asking->questions.count; i++)
		if (i == 0 || *ret != CHOICE_NONE)
			r = ask(&asking->questions.items[i], ret, err);
	return r;
}

/* Ask again: the facts have changed since they were shown. */
enum { DECIDE_AGAIN = 1 };
static int carry_out(struct app *app, const struct asking *asking, enum choice_kind choice,
		     enum decision_way *ret, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	const struct instance *instance = asking->instance;
	const struct ending_order order = {
		.wish = choice == CHOICE_CLEAN ? ENDING_CLEAN_IT : ENDING_KEEP_IT,
		.seen = asking->questions.seen,
		.takes_over = app->takes_over,
	};
	*ret = choice == CHOICE_NONE ? DECISION_LEAVE : DECISION_GO_ON;
	if (choice != CHOICE_CLEAN && choice != CHOICE_KEEP)
		return 0;
	if (ending_settle(&app->deck, instance->base, &order, &result, err) < 0)
		return -1;
	print_warnings(app);
	if (result.outcome == ENDED_ASKS)
		return DECIDE_AGAIN;
	*ret = choice == CHOICE_CLEAN ? DECISION_REMOVED : DECISION_KEPT;
	say("%s: %s", instance->title,
	    result.text ? result.text : "everything is kept; agentdeck start resumes it");
	return 0;
}

static int decide_once(struct app *app, const char *base, enum decision_way *ret, struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice = CHOICE_NONE;
	if (asking_of_end(&app->deck, base, app->takes_over, &asking, err) < 0)
		return -1;
	print_warnings(app);
	*ret = asking.questions.is_removed ? DECISION_REMOVED : DECISION_GO_ON;
	if (asking.questions.about == ABOUT_NOTHING) {
		if (asking.questions.text && !app->quiet)
			say_to(stderr,
			       xasprintf("%s: %s", asking.instance->title, asking.questions.text));
		return 0;
	}
	if (decide_may_ask(app) && ask_all(&asking, &choice, err) < 0)
		return -1;
	if (choice == CHOICE_NONE)
		say_how(app, asking.instance, asking.questions.text);
	return carry_out(app, &asking, choice, ret, err);
}

int decide_end(struct app *app, const char *base, enum decision_way *ret, struct error *err)
{
	int r;
	while ((r = decide_once(app, base, ret, err)) == DECIDE_AGAIN)
		complain("it has changed since: look again");
	return r;
}

static int decide_reuse(struct app *app, const char *base, enum decision_way *ret,
			struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice = CHOICE_RETURN;
	if (asking_of_reuse(&app->deck, base, &asking, err) < 0 ||
	    ask_all(&asking, &choice, err) < 0)
		return -1;
	if (choice != CHOICE_RETURN)
		*ret = DECISION_LEAVE;
	return 0;
}

/* What is undecided, and a tree that has changed. */
static int decide_again(struct app *app, const struct store_row *row, enum decision_way *ret,
			struct error *err)
{
	if (row->ending == ENDING_UNDECIDED)
		return decide_end(app, row->base, ret, err);
	return row->ending == ENDING_KEPT ? decide_reuse(app, row->base, ret, err) : 0;
}

/* ---- a conversation that another session or process has ---------------------------------------- */

static int copy(struct app *app, const struct asking *asking, struct decision *ret,
		struct error *err)
{
	cleanup_instance struct instance *fork = NULL;
	if (lifecycle_fork(&app->deck, asking->instance->base, &(struct lifecycle_branch){ 0 },
			   &fork, err) < 0)
		return -1;
	ret->way = DECISION_COPY;
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
	const struct adopt_order order = { 0 };
	const struct instance *instance = asking->instance;
	if (adopt_look(&app->deck, &finds, err) < 0)
		return -1;
	const struct adopt_find *find = adopt_joining(&finds, &asking->conflict.process, instance);
	if (!find)
		return error_set(err, ERROR_INVALID,
				 "process %d cannot be taken over any more: look again with "
				 "agentdeck adopt",
				 (int)asking->conflict.process.pid);
	if (adopt_check(find, &order, err) < 0 ||
	    adopt_take(&app->deck, find, &order, &joined, err) < 0)
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

int decide_conflict(struct app *app, const struct asking *asking, enum choice_kind choice,
		    struct decision *ret, struct error *err)
{
	const struct conversation_holder *holder = &asking->conflict.holder;
	if (!has_choice(asking, choice))
		return error_set(err, ERROR_INVALID, "%s cannot be done here",
				 choice_kind_name(choice));
	switch (choice) {
	case CHOICE_ATTACH:
		ret->way = DECISION_ATTACH;
		ret->base = xstrdup(holder->base);
		ret->profile = xstrdup_or_null(holder->profile);
		return 0;
	case CHOICE_FORK:
		return copy(app, asking, ret, err);
	case CHOICE_TAKE:
		ret->way = DECISION_GO_ON;
		return take(app, asking, err);
	default:
		ret->way = DECISION_LEAVE;
		return 0;
	}
}

static int decide_holder(struct app *app, const struct store_row *row,
			 const struct lifecycle_order *order, struct decision *ret,
			 struct error *err)
{
	cleanup_asking struct asking asking = { 0 }, now = { 0 };
	enum choice_kind choice;
	if (asking_of_conflict(&app->deck, row->base, order, &asking, err) < 0)
		return -1;
	if (asking.questions.about == ABOUT_NOTHING)
		return 0;
	if (ask_all(&asking, &choice, err) < 0)
		return -1;
	if (choice == CHOICE_NONE || choice == CHOICE_KEEP) {
		complain("%s was not started", asking.instance->title);
		ret->way = DECISION_LEAVE;
		return 0;
	}
	if (asking_of_conflict(&app->deck, row->base, order, &now, err) < 0)
		return -1;
	if (now.questions.about == ABOUT_NOTHING && choice != CHOICE_TAKE) {
		complain("the conversation of %s is free now, so nothing was done",
			 asking.instance->title);
		ret->way = DECISION_LEAVE;
		return 0;
	}
	if (!streq(or_empty(now.questions.seen), asking.questions.seen))
		return DECIDE_AGAIN;
	return decide_conflict(app, &now, choice, ret, err);
}

int decide_start(struct app *app, const struct store_row *row, const struct lifecycle_order *order,
		 struct decision *ret, struct error *err)
{
	int r;
	if (!decide_may_ask(app) || row->damage)
		return 0;
	while ((r = decide_holder(app, row, order, ret, err)) == DECIDE_AGAIN)
		complain("the owner of the conversation has changed: choose again");
	if (r < 0 || ret->way != DECISION_GO_ON || order->kind == START_AFTER_STOP)
		return r;
	return decide_again(app, row, &ret->way, err);
}

/* ---- the other questions ---------------------------------------------------------------------- */

/* The two letters of git status already say that it is a file. */
static void add_changes(const struct evidence *evidence, struct strvec *ret)
{
	static const char file[] = "file: ";
	for (size_t i = 0; i < evidence->items.count; i++) {
		const char *item = evidence->items.items[i];
		strvec_pushf(ret, "%s: %s", evidence->heading,
			     starts_with(item, file) ? item + strlen(file) : item);
	}
}

void decide_tell(struct app *app, const struct store_row *row, struct strvec *ret)
{
	cleanup_asking struct asking asking = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (row->damage || row->ending != ENDING_KEPT)
		return;
	/* The start itself says what is wrong with the tree. */
	if (asking_of_reuse(&app->deck, row->base, &asking, &err) < 0 ||
	    asking.questions.about == ABOUT_NOTHING)
		return;
	const struct question *question = &asking.questions.items[0];
	for (size_t i = 0; i < question->evidence_count; i++)
		add_changes(&question->evidence[i], ret);
	for (size_t i = 0; i < ret->count; i++)
		strbuf_addf(&text, "%s%s", i ? "; " : "", ret->items[i]);
	cleanup_free char *hint = hint_session(&app->deck, row->title, row->id);
	deck_warn(
		&app->deck,
		"the tree of %s has changed since it was kept, and is used as it is (%s). Look at "
		"it: agentdeck check %s",
		row->title, strbuf_text(&text), hint);
}

int decide_removal(struct app *app, const char *base, enum decision_way *ret, char **ret_seen,
		   struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice;
	*ret = DECISION_GO_ON;
	if (!decide_may_ask(app))
		return 0;
	if (asking_of_removal(&app->deck, base, &asking, err) < 0)
		return -1;
	if (asking.questions.about == ABOUT_NOTHING)
		return 0;
	if (ask_all(&asking, &choice, err) < 0)
		return -1;
	*ret = choice == CHOICE_CLEAN ? DECISION_REMOVED : DECISION_LEAVE;
	*ret_seen = TAKE_PTR(asking.questions.seen);
	return 0;
}

/* ---- at a launch ------------------------------------------------------------------------------ */

int decide_launch(struct app *app, const struct lifecycle_new *wish, char **ret_base,
		  enum decision_way *ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_asking struct asking asking = { 0 };
	const struct choice *choice;
	const struct store_row *row;
	*ret = DECISION_GO_ON;
	if (!decide_may_ask(app))
		return 0;
	if (asking_of_launch(&app->deck, wish, &asking, err) < 0)
		return -1;
	if (asking.questions.about == ABOUT_NOTHING)
		return 0;
	int r = ask_question(&asking.questions.items[0], &choice, err);
	*ret = r == 0 ? DECISION_GO_ON : DECISION_LEAVE;
	if (r != 0 || choice->kind != CHOICE_RESUME)
		return r < 0 ? -1 : 0;
	if (store_list(app->deck.store, &rows, err) < 0 ||
	    store_resolve(&rows, choice->session, &row, err) < 0 ||
	    decide_again(app, row, ret, err) < 0)
		return -1;
	*ret_base = xstrdup(row->base);
	return 0;
}
