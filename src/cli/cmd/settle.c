/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions of cli/cmd/asking.h for programs, and their answers.  The deck asks by this, too.
 * An answer that loses or ends something is compared with what was shown.
 */
#include "base/argsplit.h"
#include "cli/cmd/asking.h"
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/decide.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"

#include <string.h>

struct options {
	enum choice_kind answer; /* CHOICE_NONE: the questions are printed */
	const char *seen;
	const char *agent, *command, *title;
};

static const char *const answers[CHOICE_COUNT] = {
	[CHOICE_KEEP] = "keep", [CHOICE_CLEAN] = "clean", [CHOICE_ATTACH] = "attach",
	[CHOICE_FORK] = "fork", [CHOICE_TAKE] = "take",
};

static const struct command_option options[] = {
	{ 0, "answer", "KIND", "carry out this choice, instead of printing the question",
	  TO_CHOICE(answer, answers) },
	{ 0, "seen", "DIGEST", "with --answer: what the question had as \"seen\"", TO_TEXT(seen) },
	{ 0, "agent", "AGENT", "at a launch: the agent of the new session", TO_TEXT(agent) },
	{ 'c', "cmd", "COMMAND", "at a launch: the command line of the new session",
	  TO_TEXT(command) },
	{ 't', "title", "TITLE", "at a launch: the title of the new session", TO_TEXT(title) },
	{ 0 },
};

/* What the user is about to do. */
enum occasion {
	AT_START,
	AT_ATTACH,
	AT_RESTART,
	AT_RESUME, /* at a launch, which asks nothing about who has the conversation */
	AT_REMOVE,
	AT_LAUNCH, /* the second operand is a directory, and of the others a session */
	AT_PRUNE,  /* there is none */
};
static const char *const occasions[] = {
	[AT_START] = "start",   [AT_ATTACH] = "attach", [AT_RESTART] = "restart",
	[AT_RESUME] = "resume", [AT_REMOVE] = "remove", [AT_LAUNCH] = "launch",
	[AT_PRUNE] = "prune",
};

static enum start_kind kind_of(enum occasion occasion)
{
	return occasion == AT_RESTART ? START_AFTER_STOP : START_UNLESS_RUNNING;
}

/* ---- the questions ---------------------------------------------------------------------------- */

static void add_option(const char *option, const char *value, struct strvec *ret)
{
	strvec_push_array(ret, (const char *const[]){ value ? option : NULL, value, NULL });
}

/* The words behind "agentdeck" that carry out the choice; none: nothing is to be done. */
static void add_words(const struct app *app, const struct questions *questions,
		      const struct choice *choice, struct strvec *ret)
{
	const struct options *given = app->options;
	const char *id = questions->id, *kind = choice_kind_name(choice->kind);
	const bool is_kept = choice->kind == CHOICE_KEEP && questions->about != ABOUT_END;
	if (is_kept || choice->kind == CHOICE_CONTINUE)
		return;
	strvec_push_array(ret, (const char *const[]){ "--profile", app->deck.profile, NULL });
	if (choice->kind == CHOICE_RETURN) {
		const bool attaches = streq(questions->occasion, occasions[AT_ATTACH]);
		strvec_push_array(ret,
				  (const char *const[]){ attaches ? "attach" : "start", id, NULL });
	} else if (questions->about == ABOUT_REMOVAL) {
		strvec_push_array(ret, (const char *const[]){ "remove", "--force", NULL });
		strvec_pushf(ret, "--seen=%s=%s", id, questions->seen);
		strvec_push(ret, id);
	} else if (questions->about == ABOUT_LAUNCH) {
		strvec_push(ret, "launch");
		add_option("--instead", choice->session, ret);
		add_option("--agent", given->agent, ret);
		add_option("--cmd", given->command, ret);
		add_option("--title", given->title, ret);
		strvec_push(ret, id);
	} else {
		strvec_push_array(ret, (const char *const[]){ "settle", "--answer", kind, "--seen",
							      questions->seen, questions->occasion,
							      *id ? id : NULL, NULL });
	}
}

static void add_commands(const struct app *app, const struct questions *questions,
			 struct json_object *object)
{
	struct json_object *items = json_get_array(object, "questions");
	for (size_t i = 0; i < questions->count; i++) {
		const struct question *question = &questions->items[i];
		struct json_object *item = json_object_array_get_idx(items, i);
		struct json_object *choices = json_get_array(item, "choices");
		for (size_t j = 0; j < question->choice_count; j++) {
			cleanup_strvec struct strvec words = { 0 };
			add_words(app, questions, &question->choices[j], &words);
			json_set_strings(json_object_array_get_idx(choices, j), "command", &words);
		}
	}
}

static void say_questions(const struct app *app, const struct questions *questions)
{
	if (questions->text || !questions->count)
		say("%s", questions->text ? questions->text : "There is nothing to ask.");
	for (size_t i = 0; i < questions->count; i++) {
		const struct question *question = &questions->items[i];
		cleanup_strbuf struct strbuf text = { 0 };
		question_add_text(question, &text);
		printf("%s", strbuf_text(&text));
		for (size_t j = 0; j < question->choice_count; j++) {
			cleanup_strvec struct strvec words = { 0 };
			add_words(app, questions, &question->choices[j], &words);
			cleanup_free char *line = argjoin(strvec_argv(&words));
			if (words.count)
				say("To choose %s: agentdeck %s", question->choices[j].label, line);
		}
	}
}

static int print_questions(struct app *app, struct questions *questions, const char *id)
{
	replace_string(&questions->id, id);
	replace_string(&questions->occasion, app->operands.items[0]);
	print_warnings(app);
	if (!app->json) {
		say_questions(app, questions);
		return 0;
	}
	cleanup_json struct json_object *object = questions_to_json(questions);
	add_commands(app, questions, object);
	print_json(object);
	return 0;
}

static int ask_end(struct app *app, const struct store_row *row, struct asking *ret,
		   struct error *err)
{
	if (row->ending == ENDING_UNDECIDED)
		return asking_of_end(&app->deck, row->base, false, ret, err);
	return row->ending == ENDING_KEPT ? asking_of_reuse(&app->deck, row->base, ret, err) : 0;
}

/* The question before a start, an attach or a restart. */
static int ask_start(struct app *app, const struct store_row *row, enum occasion occasion,
		     struct asking *ret, struct error *err)
{
	const struct lifecycle_order order = { .kind = kind_of(occasion) };
	if (occasion == AT_RESUME)
		return ask_end(app, row, ret, err);
	if (asking_of_conflict(&app->deck, row->base, &order, ret, err) < 0)
		return -1;
	if (ret->questions.about != ABOUT_NOTHING || order.kind == START_AFTER_STOP)
		return 0;
	asking_free(ret);
	return ask_end(app, row, ret, err);
}

static int print_asking(struct app *app, const struct store_row *row, enum occasion occasion,
			struct error *err)
{
	cleanup_asking struct asking asking = { 0 };
	int r = row->damage             ? 0
		: occasion == AT_REMOVE ? asking_of_removal(&app->deck, row->base, &asking, err)
					: ask_start(app, row, occasion, &asking, err);
	return r < 0 ? -1 : print_questions(app, &asking.questions, row->id);
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
	return print_questions(app, &asking.questions, directory);
}

/* ---- the answers ------------------------------------------------------------------------------ */

static int answer_end(struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	const struct options *given = app->options;
	const struct ending_order order = {
		.wish = given->answer == CHOICE_CLEAN ? ENDING_CLEAN_IT : ENDING_KEEP_IT,
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
	const char *text = result.text ? result.text
				       : "everything is kept; agentdeck start resumes it";
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "text", text);
	return print_done(app, object, xasprintf("%s: %s", row->title, text));
}

/* Look again at the owner of the conversation before the answer takes effect. */
static int answer_conflict(struct app *app, const struct store_row *row, enum occasion occasion,
			   struct error *err)
{
	const struct options *given = app->options;
	struct lifecycle_order how = { .kind = kind_of(occasion) };
	const bool attaches = occasion == AT_ATTACH && !app->json;
	cleanup_asking struct asking asking = { 0 };
	cleanup_decision struct decision outcome = { 0 };
	if (asking_of_conflict(&app->deck, row->base, &how, &asking, err) < 0)
		return -1;
	if (!streq(or_empty(asking.questions.seen), or_empty(given->seen)))
		return error_set(err, ERROR_INVALID,
				 "nothing was done, because the owner of the conversation of %s "
				 "changed since it was shown: look again",
				 row->title);
	if (decide_conflict(app, &asking, given->answer, &outcome, err) < 0)
		return -1;
	if (outcome.way == DECISION_ATTACH)
		return attach_chosen(app, &outcome, ATTACH_FULLY, err);
	if (!outcome.base)
		outcome.base = xstrdup(row->base);
	if (outcome.way != DECISION_GO_ON)
		how.kind = START_UNLESS_RUNNING;
	const struct start_order order = {
		.base = outcome.base,
		.how = how,
	};
	const int r = run_start(app, &order, err);
	return r == 0 && attaches ? attach_chosen(app, &outcome, ATTACH_FULLY, err) : r;
}

static int settle_prune(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_asking struct asking asking = { 0 };
	size_t deleted = 0;
	if (given->answer == CHOICE_NONE)
		return asking_of_prune(&app->deck, &asking, err) < 0
			       ? -1
			       : print_questions(app, &asking.questions, "");
	if (given->answer == CHOICE_CLEAN &&
	    asking_prune(&app->deck, given->seen, &deleted, err) < 0)
		return -1;
	print_warnings(app);
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_int(object, "deleted", (int64_t)deleted);
	return print_done(app, object,
			  xasprintf("Deleted %zu removed session%s.", deleted,
				    deleted == 1 ? "" : "s"));
}

static int settle_session(struct app *app, enum occasion occasion, struct error *err)
{
	const struct options *given = app->options;
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[1], &rows, &row, err) < 0)
		return -1;
	if (given->answer == CHOICE_NONE)
		return print_asking(app, row, occasion, err);
	if (occasion == AT_REMOVE)
		return error_set(err, ERROR_USAGE,
				 "agentdeck remove --seen removes it: without --answer this says "
				 "with which words");
	return given->answer == CHOICE_KEEP || given->answer == CHOICE_CLEAN
		       ? answer_end(app, row, err)
		       : answer_conflict(app, row, occasion, err);
}

static int cmd_settle(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *word = app->operands.items[0];
	size_t occasion = 0;
	while (occasion < ARRAY_SIZE(occasions) && !streq(occasions[occasion], word))
		occasion++;
	if (occasion == ARRAY_SIZE(occasions))
		return error_set(
			err, ERROR_USAGE,
			"what is it before: start, attach, restart, resume, remove, launch "
			"or prune?");
	if ((app->operands.count == 1) != (occasion == AT_PRUNE))
		return error_set(err, ERROR_USAGE, "%s",
				 occasion == AT_PRUNE ? "prune takes no session"
						      : "the session is missing, or the "
							"directory of a launch");
	if (occasion == AT_PRUNE)
		return settle_prune(app, err);
	if (occasion != AT_LAUNCH)
		return settle_session(app, (enum occasion)occasion, err);
	if (given->answer != CHOICE_NONE)
		return error_set(err, ERROR_USAGE, "agentdeck launch is the answer");
	return print_launch(app, app->operands.items[1], err);
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	if (line->operands.count == 0)
		return (struct offer){ .words = occasions, .count = ARRAY_SIZE(occasions) };
	return (struct offer){ .kind = streq(line->operands.items[0], occasions[AT_LAUNCH])
					       ? VALUE_DIRECTORY
					       : VALUE_SESSION };
}

const struct command command_settle = {
	.name = "settle",
	.kind = COMMAND_CHANGES,
	.arguments = "OCCASION [SESSION]",
	.summary = "print what is to be asked before an action, or answer it",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.offer = offer,
	.run = cmd_settle,
};
