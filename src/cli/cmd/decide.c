/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/decide.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "cli/cmd/asking.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/deck/hint.h"
#include "engine/roster/view.h"
#include "model/question/screens.h"

static bool may_ask(const struct app *app)
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
	complain("to go on:      agentdeck attach %s", hint);
	complain("to keep it:    agentdeck session set %s on-end keep", hint);
	complain("to give it up: agentdeck remove --discard %s", hint);
}

/* Ask them one after the other.  The answer to the last one; CHOICE_NONE: one was not answered. */
static int ask_all(const struct asking *asking, enum choice_kind *ret, struct error *err)
{
	int r = ask(&asking->questions[0], ret, err);
	for (size_t i = 1; r == 0 && *ret != CHOICE_NONE && i < asking->count; i++)
		r = ask(&asking->questions[i], ret, err);
	return r;
}

/* Another round: it has more work than what was shown. */
enum { DECIDE_AGAIN = 1 };
static int carry_out(struct app *app, const struct asking *asking, enum choice_kind choice,
		     enum decision *ret, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	const struct instance *instance = asking->instance;
	*ret = choice == CHOICE_NONE ? DECISION_LEAVE : DECISION_GO_ON;
	if (choice != CHOICE_CLEAN && choice != CHOICE_KEEP)
		return 0;
	if (asking_answer_end(&app->deck, instance->base, choice, asking->seen, &result, err) < 0)
		return -1;
	print_warnings(app);
	if (result.outcome == ENDED_ASKS)
		return DECIDE_AGAIN;
	*ret = choice == CHOICE_CLEAN ? DECISION_REMOVED : DECISION_KEPT;
	say("%s: %s", instance->title,
	    result.text ? result.text : "everything is kept; agentdeck start resumes it");
	return 0;
}

static int decide_once(struct app *app, const char *base, enum decision *ret, struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice = CHOICE_NONE;
	if (asking_of_end(&app->deck, base, &asking, err) < 0)
		return -1;
	print_warnings(app);
	*ret = asking.outcome == ENDED_REMOVED ? DECISION_REMOVED : DECISION_GO_ON;
	if (asking.about == ASKED_NOTHING) {
		if (asking.text && !app->quiet)
			say_to(stderr, xasprintf("%s: %s", asking.instance->title, asking.text));
		return 0;
	}
	if (may_ask(app) && ask_all(&asking, &choice, err) < 0)
		return -1;
	if (choice == CHOICE_NONE)
		say_how(app, asking.instance, asking.text);
	return carry_out(app, &asking, choice, ret, err);
}

int decide_end(struct app *app, const char *base, enum decision *ret, struct error *err)
{
	int r;
	while ((r = decide_once(app, base, ret, err)) == DECIDE_AGAIN)
		complain("it has changed since: look again");
	return r;
}

static int decide_reuse(struct app *app, const char *base, enum decision *ret, struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice;
	if (asking_of_reuse(&app->deck, base, &asking, err) < 0)
		return -1;
	if (asking.about == ASKED_NOTHING)
		return 0;
	if (ask_all(&asking, &choice, err) < 0)
		return -1;
	if (choice != CHOICE_RETURN)
		*ret = DECISION_LEAVE;
	return 0;
}

int decide_start(struct app *app, const struct store_row *row, enum decision *ret,
		 struct error *err)
{
	*ret = DECISION_GO_ON;
	if (!may_ask(app) || row->damage)
		return 0;
	if (row->ending == ENDING_UNDECIDED)
		return decide_end(app, row->base, ret, err);
	return row->ending == ENDING_KEPT ? decide_reuse(app, row->base, ret, err) : 0;
}

int decide_removal(struct app *app, const char *base, enum decision *ret, char **ret_seen,
		   struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	enum choice_kind choice;
	*ret = DECISION_GO_ON;
	if (!may_ask(app))
		return 0;
	if (asking_of_removal(&app->deck, base, &asking, err) < 0)
		return -1;
	if (asking.about == ASKED_NOTHING)
		return 0;
	if (ask_all(&asking, &choice, err) < 0)
		return -1;
	*ret = choice == CHOICE_CLEAN ? DECISION_REMOVED : DECISION_LEAVE;
	*ret_seen = TAKE_PTR(asking.seen);
	return 0;
}

/* ---- at a launch ------------------------------------------------------------------------------ */

/* Did it end, and could it go on, in this directory or in a tree of it? */
static bool is_candidate(struct app *app, const struct store_row *row, const char *directory,
			 const char *agent)
{
	cleanup_instance struct instance *instance = NULL;
	if (row->damage || row->state != STATE_STOPPED || row->desired != DESIRED_STOPPED ||
	    !row->last_used_at || !streq(row->agent, agent))
		return false;
	if (streq(row->lookup_directory, directory))
		return true;
	return deck_load(&app->deck, row->base, &instance, NULL) == 0 && instance->workspace &&
	       streq(instance->workspace->source, directory);
}

static void add_candidate(struct question *question, const struct store_row *row)
{
	char span[CLOCK_TEXT_SIZE];
	cleanup_view struct view view = view_of(row);
	cleanup_free char *status = view_text(&view);
	cleanup_free char *label = xasprintf("Resume %s", row->title);
	cleanup_free char *effect = xasprintf("%s, %s ago, %s", row->id,
					      clock_span(clock_wall_us() - row->last_used_at, span),
					      status);
	question_add_session(question, row->id, label, effect);
}

static bool is_asked(const struct app *app, const struct lifecycle_new *wish)
{
	return may_ask(app) && !wish->title && !wish->session_id;
}

int decide_launch(struct app *app, const struct lifecycle_new *wish, char **ret_base,
		  enum decision *ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_question struct question question = { 0 };
	cleanup_free char *directory = NULL;
	const struct agent *agent;
	const struct choice *choice;
	const struct store_row *row;
	*ret = DECISION_GO_ON;
	/* The launch itself says what is wrong with the directory or the agent. */
	if (!is_asked(app, wish) || fs_real_directory(wish->directory, &directory, NULL) != 0 ||
	    lifecycle_choose_agent(&app->deck, wish, &agent, NULL) < 0)
		return 0;
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	question_of_launch(&question, directory, agent->title);
	for (size_t i = rows.count; i-- > 0;)
		if (is_candidate(app, &rows.rows[i], directory, agent->name))
			add_candidate(&question, &rows.rows[i]);
	if (question.choice_count == 1)
		return 0;
	int r = ask_question(&question, &choice, err);
	*ret = r == 0 ? DECISION_GO_ON : DECISION_LEAVE;
	if (r != 0 || choice->kind != CHOICE_RESUME)
		return r < 0 ? -1 : 0;
	if (store_resolve(&rows, choice->session, &row, err) < 0)
		return -1;
	*ret_base = xstrdup(row->base);
	return 0;
}
