/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions of cli/cmd/asking.h as JSON for agentdeck-ui, and what it was answered: Return is a
 * start, New and Resume are a launch, the end of a removal is `agentdeck remove --seen`, and the
 * others are here.  What is deleted or ended is checked against what was shown.
 *
 * The occasion of a question is what its user was about to do: start, attach, restart, resume (at a
 * launch, which asks nothing about who has the conversation), remove, launch or prune.
 */
#include "base/argsplit.h"
#include "cli/cmd/asking.h"
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/conflict.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"

#include <string.h>

struct options {
	enum {
		ANSWER_NOT,
		ANSWER_KEEP,
		ANSWER_CLEAN,
		ANSWER_ATTACH,
		ANSWER_FORK,
		ANSWER_TAKE,
	} answer;
	const char *seen;
	const char *agent, *command, *title;
};

static const char *const answers[] = {
	[ANSWER_NOT] = "none",      [ANSWER_KEEP] = "keep", [ANSWER_CLEAN] = "clean",
	[ANSWER_ATTACH] = "attach", [ANSWER_FORK] = "fork", [ANSWER_TAKE] = "take",
};

static const struct command_option options[] = {
	{ 0, "answer", "ANSWER", "what its user has chosen: keep, clean, attach, fork or take",
	  TO_CHOICE(answer, answers) },
	{ 0, "seen", "DIGEST", "what its user was shown", TO_TEXT(seen) },
	{ 0, "agent", "NAME", "of a launch", TO_TEXT(agent) },
	{ 0, "cmd", "COMMAND", "of a launch", TO_TEXT(command) },
	{ 0, "title", "TITLE", "of a launch", TO_TEXT(title) },
	{ 0 },
};

static enum start_kind kind_of(const char *occasion)
{
	return streq(occasion, "restart") ? START_AFTER_STOP : START_UNLESS_RUNNING;
}

static void print_questions(struct app *app, const struct asking *asking, const char *id)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *questions = json_object_new_array();
	print_warnings(app);
	for (size_t i = 0; i < asking->count; i++)
		json_object_array_add(questions, question_to_json(&asking->questions[i]));
	json_set_string(object, "id", id);
	json_set_string(object, "occasion", app->operands.items[1]);
	json_set_string(object, "about", asked_name(asking->about));
	json_set(object, "questions", questions);
	json_set_string(object, "seen", asking->seen);
	json_set_bool(object, "removed", asking->outcome == ENDED_REMOVED);
	json_set_string(object, "text", asking->text);
	print_json_line(object);
}

/* The question before a start, an attach or a restart. */
static int ask_start(struct app *app, const struct store_row *row, struct asking *ret,
		     struct error *err)
{
	const struct lifecycle_order order = { .kind = kind_of(app->operands.items[1]) };
	if (asking_of_conflict(&app->deck, row->base, &order, ret, err) < 0)
		return -1;
	if (ret->about != ASKED_NOTHING || order.kind == START_AFTER_STOP)
		return 0;
	asking_free(ret);
	if (row->ending == ENDING_UNDECIDED)
		return asking_of_end(&app->deck, row->base, false, ret, err);
	return row->ending == ENDING_KEPT ? asking_of_reuse(&app->deck, row->base, ret, err) : 0;
}

static int print_asking(struct app *app, const struct store_row *row, bool is_removal,
			struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	int r = 0;
	if (row->damage)
		r = 0;
	else if (is_removal)
		r = asking_of_removal(&app->deck, row->base, &asking, err);
	else if (!streq(app->operands.items[1], "resume"))
		r = ask_start(app, row, &asking, err);
	else if (row->ending == ENDING_UNDECIDED)
		r = asking_of_end(&app->deck, row->base, false, &asking, err);
	else if (row->ending == ENDING_KEPT)
		r = asking_of_reuse(&app->deck, row->base, &asking, err);
	if (r < 0)
		return -1;
	print_questions(app, &asking, row->id);
	return 0;
}

/* The question of launch: the session has no id yet, so the directory as given is used instead. */
static int print_launch(struct app *app, const char *directory, struct error *err)
{
	const struct options *given = app->options;
	cleanup_asking struct asking asking = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	const struct lifecycle_new wish = {
		.title = given->title, .directory = directory, .agent = given->agent, .argv = &argv
	};
	if (given->command && argsplit(given->command, &argv, err) < 0)
		return error_prefix(err, "-c");
	if (asking_of_launch(&app->deck, &wish, &asking, err) < 0)
		return -1;
	print_questions(app, &asking, directory);
	return 0;
}

static int answer_end(struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	const struct options *given = app->options;
	const struct ending_order order = {
		.wish = given->answer == ANSWER_CLEAN ? ENDING_CLEAN_IT : ENDING_KEEP_IT,
		.seen = given->seen,
	};
	if (ending_settle(&app->deck, row->base, &order, &result, err) < 0)
		return -1;
	print_warnings(app);
	if (result.outcome == ENDED_ASKS)
		return error_set(err, ERROR_INVALID,
				 "nothing was deleted, because the tree of %s has changed since it "
				 "was shown: look again",
				 row->title);
	say("%s: %s", row->title,
	    result.text ? result.text : "everything is kept; agentdeck start resumes it");
	return 0;
}

/* Look again at the owner of the conversation before the answer takes effect. */
static int answer_conflict(struct app *app, const struct store_row *row, struct error *err)
{
	static const enum choice_kind choices[] = {
		[ANSWER_ATTACH] = CHOICE_ATTACH,
		[ANSWER_FORK] = CHOICE_FORK,
		[ANSWER_TAKE] = CHOICE_TAKE,
	};
	const struct options *given = app->options;
	const char *occasion = app->operands.items[1];
	struct lifecycle_order how = { .kind = kind_of(occasion) };
	const bool attaches = streq(occasion, "attach");
	cleanup_asking struct asking asking = { 0 };
	cleanup_conflict_outcome struct conflict_outcome outcome = { 0 };
	if (asking_of_conflict(&app->deck, row->base, &how, &asking, err) < 0)
		return -1;
	if (!streq(or_empty(asking.seen), or_empty(given->seen)))
		return error_set(err, ERROR_INVALID,
				 "nothing was done, because the owner of the conversation of %s "
				 "changed since it was shown: look again",
				 row->title);
	if (conflict_carry_out(app, &asking, choices[given->answer], &outcome, err) < 0)
		return -1;
	if (outcome.way == CONFLICT_ATTACH)
		return attach_chosen(app, &outcome, ATTACH_FULLY, err);
	if (!outcome.base)
		outcome.base = xstrdup(row->base);
	if (outcome.way != CONFLICT_START)
		how.kind = START_UNLESS_RUNNING;
	const struct start_order order = {
		.base = outcome.base,
		.how = how,
	};
	const int r = run_start(app, &order, err);
	return r == 0 && attaches ? attach_chosen(app, &outcome, ATTACH_FULLY, err) : r;
}

/* The trash is not a session: the first operand is the word "trash". */
static int run_prune(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_asking struct asking asking = { 0 };
	size_t deleted = 0;
	if (given->answer == ANSWER_CLEAN) {
		if (asking_prune(&app->deck, given->seen, &deleted, err) < 0)
			return -1;
		print_warnings(app);
		say("Deleted %zu removed session%s.", deleted, deleted == 1 ? "" : "s");
		return 0;
	}
	if (asking_of_prune(&app->deck, &asking, err) < 0)
		return -1;
	print_questions(app, &asking, app->operands.items[0]);
	return 0;
}

static int cmd_settle(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const bool is_removal = streq(app->operands.items[1], "remove");
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (streq(app->operands.items[1], "launch"))
		return print_launch(app, app->operands.items[0], err);
	if (streq(app->operands.items[1], "prune"))
		return run_prune(app, err);
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	if (given->answer == ANSWER_NOT)
		return print_asking(app, row, is_removal, err);
	if (is_removal)
		return error_set(err, ERROR_USAGE, "the answer is agentdeck remove --seen");
	return given->answer >= ANSWER_ATTACH ? answer_conflict(app, row, err)
					      : answer_end(app, row, err);
}

const struct command command_settle = {
	.name = "settle",
	.kind = COMMAND_INTERNAL,
	.arguments = "SESSION OCCASION",
	.summary = "what is to be asked about an end or a removal (agentdeck-ui calls this)",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_settle,
};
