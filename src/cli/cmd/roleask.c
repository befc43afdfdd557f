/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/roleask.h"

#include "cli/show/ask.h"
#include "cli/show/output.h"

#include <string.h>

void role_answers_clear(struct role_answers *answers)
{
	strvec_clear(&answers->environment);
	strvec_clear(&answers->secrets);
}

/* "NAME" or "NAME=..." */
static bool names(const struct strvec *list, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], name, length) == 0 &&
		    (!list->items[i][length] || list->items[i][length] == '='))
			return true;
	return false;
}

static bool has_answer(const struct role_answers *answers, const char *name)
{
	return names(&answers->environment, name) || names(&answers->secrets, name);
}

/* The user's own text.  Where a secret is counts, and its value is kept nowhere. */
static int take(const struct role_question *question, const char *text,
		struct role_answers *answers, struct error *err)
{
	const bool is_reference = role_is_reference(text);
	if (question->options.count && !strvec_contains(&question->options, text))
		return error_set(err, ERROR_USAGE, "choose one of these");
	if (question->is_secret && !is_reference)
		return error_set(err, ERROR_USAGE,
				 "say where the secret is, and not what it is: env:NAME, file:PATH "
				 "or command:[\"PROGRAM\",\"WORD\"]");
	if (is_reference && recipe_check_secret(question->name, text, err) < 0)
		return -1;
	strvec_pushf(is_reference ? &answers->secrets : &answers->environment, "%s=%s",
		     question->name, text);
	return 0;
}

static void show(const struct role_question *question)
{
	cleanup_free char *options = strvec_join(&question->options, ", ");
	cleanup_free char *text = xasprintf("%s%s%s%s%s%s", question->name,
					    question->prompt ? ": " : "",
					    or_empty(question->prompt), *options ? " (" : "",
					    options, *options ? ")" : "");
	cleanup_free char *usual = question->otherwise ? visible(question->otherwise) : NULL;
	say("%s", text);
	if (usual)
		say("Enter alone takes %s; q cancels.", usual);
	else
		say(question->is_skippable ? "Enter alone skips it; q cancels." : "q cancels.");
}

static int ask(const struct role_question *question, struct role_answers *answers,
	       struct error *err)
{
	show(question);
	for (;;) {
		cleanup_free char *line = NULL;
		cleanup_error struct error why = { 0 };
		const int r = ask_line(&line, err);
		if (r == ASK_CANCELLED)
			return error_set(err, ERROR_INVALID, "cancelled: no session was created");
		if (r < 0)
			return -1;
		if (!*line && question->otherwise)
			strvec_pushf(&answers->environment, "%s=%s", question->name,
				     question->otherwise);
		if (!*line && (question->otherwise || question->is_skippable))
			return 0;
		if (*line && take(question, line, answers, &why) == 0)
			return 0;
		say("%s", why.message ? why.message : "Type a value.");
	}
}

static int answer(const struct app *app, const struct role_question *question,
		  struct role_answers *answers, struct error *err)
{
	for (size_t i = 0; i < question->after.count; i++)
		if (!has_answer(answers, question->after.items[i]))
			return 0;
	if (!app->json && ask_is_possible())
		return ask(question, answers, err);
	if (question->otherwise)
		strvec_pushf(&answers->environment, "%s=%s", question->name, question->otherwise);
	if (question->otherwise || question->is_skippable)
		return 0;
	cleanup_free char *prompt = visible(or_empty(question->prompt));
	return error_set(err, ERROR_USAGE, "the role asks for %s%s%s%s: give it with --%s %s=%s",
			 question->name, *prompt ? " (" : "", prompt, *prompt ? ")" : "",
			 question->is_secret ? "secret" : "env", question->name,
			 question->is_secret ? "SOURCE" : "VALUE");
}

int role_ask_variables(struct app *app, struct container_order *order, struct role_answers *ret,
		       struct error *err)
{
	if (!order->role)
		return 0;
	const struct role *role = &order->role->role;
	if (order->environment)
		strvec_push_all(&ret->environment, order->environment);
	if (order->secrets)
		strvec_push_all(&ret->secrets, order->secrets);
	order->environment = &ret->environment;
	order->secrets = &ret->secrets;
	for (size_t i = 0; i < role->question_count; i++)
		if (role->questions[i].is_secret &&
		    names(&ret->environment, role->questions[i].name))
			return error_set(err, ERROR_USAGE,
					 "%s is a secret, and --env is written down: give it with "
					 "--secret %s=SOURCE",
					 role->questions[i].name, role->questions[i].name);
	for (size_t i = 0; i < role->question_count; i++)
		if (!has_answer(ret, role->questions[i].name) &&
		    answer(app, &role->questions[i], ret, err) < 0)
			return -1;
	return 0;
}
