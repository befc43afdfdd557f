/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/pick.h"
#include "cli/wish.h"

enum { MESSAGE_TIMEOUT_MS = 30000 };

struct launched {
	struct instance *instance;
	enum lifecycle_outcome outcome;
	bool is_up;
	struct delivery_result delivery;
};

static void launched_free(struct launched *launched)
{
	instance_free(launched->instance);
	delivery_result_free(&launched->delivery);
}
#define cleanup_launched CLEANUP(launched_free)

/* Add and start.  What could not be started at all is not left behind either: the same command works once
 * the cause is removed. */
static int add_and_start(struct app *app, const struct wish *wish, struct launched *ret,
			 struct error *err)
{
	cleanup_instance struct instance *added = NULL;
	bool already;
	if (lifecycle_add(&app->deck, &wish->wish, &added, err) < 0)
		return -1;
	if (start_and_wait(app, added->base, false, true, !option_given(app, "no-wait"),
			   &ret->instance, &already, &ret->outcome, err) < 0) {
		(void)lifecycle_remove(&app->deck, added->base, false, NULL);
		return -1;
	}
	ret->is_up = ret->outcome == OUTCOME_REPORTED || ret->outcome == OUTCOME_ALIVE;
	return 0;
}

static int send_message(struct app *app, const struct strbuf *message, struct launched *launched,
			struct error *err)
{
	const struct delivery_request request = {
		.base = launched->instance->base,
		.text = message->data,
		.length = message->length,
		.timeout_ms = MESSAGE_TIMEOUT_MS,
		.wait = true,
	};
	if (launched->is_up)
		return deliver(&app->deck, &request, &launched->delivery, err);
	launched->delivery.delivery = DELIVERY_NOT_READY;
	launched->delivery.reason = xstrdup("the agent ended at once");
	return 0;
}

static int print_launched(struct app *app, const struct launched *launched, bool has_message,
			  struct error *err)
{
	const struct instance *instance = launched->instance;
	const struct delivery_result *delivery = &launched->delivery;
	bool delivered = !has_message || delivery->delivery == DELIVERY_SUBMITTED;
	if (app->json) {
		cleanup_json struct json_object *object =
			json_of_start(instance, false, launched->outcome);
		json_set_string(object, "path", instance->cwd);
		json_set_string(object, "agent", instance->agent);
		if (has_message && launched->is_up)
			message_add_json(object, instance->id, delivery);
		else if (has_message)
			json_set_string(object, "delivery", delivery_name(delivery->delivery));
		print_json(object);
		return launched->is_up && delivered ? 0 : 1;
	}
	print_start(instance, false, launched->outcome);
	if (!launched->is_up)
		return 1;
	if (has_message && message_judge(instance->title, instance->id, delivery, err) < 0)
		return -1;
	cleanup_free char *title = visible(instance->title);
	if (has_message)
		printf("%s: message submitted\n", title);
	if (!option_given(app, "attach"))
		printf("Work in it with: agentdeck attach %s\n", instance->id);
	return 0;
}

static int run(struct app *app, struct error *err)
{
	cleanup_wish struct wish wish = { 0 };
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_launched struct launched launched = { 0 };
	bool has_message = option_given(app, "message") || option_given(app, "message-file");

	if (wish_read(app, &wish, err) < 0)
		return -1;
	if (has_message && option_given(app, "no-wait"))
		return error_set(err, ERROR_USAGE, "--no-wait does not go with a message, which waits for "
				 "the agent: leave one of them out");
	if (has_message && message_read(option_value(app, "message"),
					option_value(app, "message-file"), &message, err) < 0)
		return -1;
	if (pick_ask(app, &wish, err) < 0)
		return -1;
	if (add_and_start(app, &wish, &launched, err) < 0 ||
	    (has_message && send_message(app, &message, &launched, err) < 0))
		return -1;
	int r = print_launched(app, &launched, has_message, err);
	if (r == 0 && option_given(app, "attach") && !app->json) {
		/* What stands in our buffer belongs above the agent's screen. */
		(void)fflush(stdout);
		return run_attach(app, launched.instance->base, err);
	}
	return r;
}

static const struct command_option options[] = {
	WISH_OPTIONS,
	{ 'm', "message", "TEXT", "send the agent this as soon as it is ready; - is standard input" },
	{ 0, "message-file", "FILE", "send it what is in this file; - is standard input" },
	{ 0, "no-wait", NULL, "return when the session is durable, without waiting for the agent" },
	{ 'a', "attach", NULL, "and attach to it" },
	{ 0 },
};

const struct command command_launch = {
	.name = "launch",
	.arguments = "[PATH] [-- ARG...]",
	.summary = "make a session for a directory and start it",
	.description =
		"PATH is the directory that the agent works in; without it the current one.  Words after\n"
		"-- are handed to the agent.  It is add, session start and, with a message, session send in\n"
		"one: when the agent cannot be started at all, no session is left behind; when only the message\n"
		"is not delivered, the session stays, and the exit status is 1.  On a terminal you are asked\n"
		"which agent it is for, unless --agent, -c or default_agent in config.toml says so.",
	.options = options,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON | HAS_REST,
	.run = run,
};
