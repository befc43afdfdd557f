/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "engine/run/start.h"
#include "engine/screen/permit.h"

#include <string.h>

struct options {
	const char *question;
	const char *choice;
	bool yes;
};

#define OPTIONS_ANSWER                                                            \
	{ 0, "question", "DIGEST", "answer only the question that --json showed", \
	  TO_TEXT(question) },                                                    \
	{                                                                         \
		'y', "yes", NULL, "do not ask", TO_FLAG(yes)                      \
	}
static const struct command_option options[] = {
	{ 0, "choice", "N", "the answer to a question with choices", TO_TEXT(choice) },
	OPTIONS_ANSWER,
	{ 0 },
};
static const struct command_option deny_options[] = { OPTIONS_ANSWER, { 0 } };

static void show(const struct permission *question)
{
	cleanup_free char *copy = xstrdup(question->text);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n")) && (*line || rest);)
		say("%s", line);
}

static int ask_choice(char **ret, struct error *err)
{
	say("Which one? Type its number; q cancels.");
	const int r = ask_line(ret, err);
	if (r > 0)
		say("Not answered: the agent still waits for an answer.");
	return r;
}

/* 0: the user wants it, and *ret_choice is what was typed for a question with choices;
 * ASK_CANCELLED. */
static int confirm(const struct options *given, enum permit_answer answer,
		   const struct permission *question, char **ret_choice, struct error *err)
{
	if (given->yes || given->question)
		return 0;
	if (!ask_is_possible())
		return error_set(err, ERROR_USAGE,
				 "there is no terminal to ask on: read the question with "
				 "--json, and give its digest with --question");
	if (answer == PERMIT_APPROVE && question->choices.count && !given->choice)
		return ask_choice(ret_choice, err);
	return answer == PERMIT_APPROVE
		       ? ask_yes("Give this permission?",
				 "Not given: the agent still waits for an answer.", err)
		       : ask_yes("Refuse this permission?",
				 "Not refused: the agent still waits for an answer.", err);
}

static struct json_object *describe(const struct store_row *row, const struct permission *question,
				    bool is_answered)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "question", question->text);
	json_set_string(object, "digest", question->digest);
	json_set_strings(object, "choices", &question->choices);
	json_set_strings(object, "labels", &question->labels);
	json_set_bool(object, "answered", is_answered);
	return object;
}

static int answer(struct app *app, enum permit_answer answer, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	cleanup_permission struct permission question = { 0 };
	cleanup_free char *typed = NULL;
	if (lifecycle_show(&app->deck, row->base, err) < 0 ||
	    permit_look(&app->deck, row->base, &question, err) < 0)
		return -1;
	if (app->json && !given->yes && !given->question)
		return print_done(app, describe(row, &question, false), NULL);
	if (!app->json && !given->question)
		show(&question);
	const int r = confirm(given, answer, &question, &typed, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	const struct permit_request request = {
		.base = row->base,
		.answer = answer,
		.digest = given->question ? given->question : question.digest,
		.choice = typed ? typed : given->choice,
	};
	if (permit_answer(&app->deck, &request, err) < 0)
		return -1;
	return print_done(app, describe(row, &question, true),
			  xasprintf("%s: %s", row->title,
				    answer == PERMIT_APPROVE ? "approved" : "denied"));
}

static int cmd_session_approve(struct app *app, struct error *err)
{
	return answer(app, PERMIT_APPROVE, err);
}

static int cmd_session_deny(struct app *app, struct error *err)
{
	return answer(app, PERMIT_DENY, err);
}

const struct command command_session_approve = {
	.name = "session approve",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "give the permission that an agent asks for",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_approve,
};

const struct command command_session_deny = {
	.name = "session deny",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "refuse the permission that an agent asks for",
	.options = deny_options,
	.options_size = sizeof(struct options),
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_deny,
};
