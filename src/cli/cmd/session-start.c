/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/decide.h"
#include "cli/cmd/message.h"
#include "cli/cmd/several.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"

struct options {
	const char *message, *message_file;
	bool no_wait, no_supervise, fresh, attach, rebuild, no_setup;
};

static const struct command_option options[] = {
	{ 'm', "message", "TEXT", "send this when the agent is ready; - is standard input",
	  TO_MESSAGE(message) },
	{ 0, "message-file", "FILE", "send the content of this file; - is standard input",
	  TO_TEXT(message_file) },
	{ 0, "no-wait", NULL, "return when the session is recorded, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 0, "fresh", NULL, "begin a new conversation, and keep the old one as it is",
	  TO_FLAG(fresh) },
	{ 'a', "attach", NULL, "attach to it afterwards", TO_FLAG(attach) },
	{ 0, "no-supervise", NULL, "do not enable the supervisor", TO_FLAG(no_supervise) },
	{ 0, "rebuild", NULL, "build the image of its container again if the image is gone",
	  TO_FLAG(rebuild) },
	{ 0, "no-setup", NULL, "skip the setup of its worktree or clone", TO_FLAG(no_setup) },
	OPTIONS_SEVERAL,
	OPTION_TAKE_OVER,
	{ 0 },
};

enum { MESSAGE_TIMEOUT_MS = 30000, MESSAGE_MAX = 60000 };

/* A session that runs already gets the message, too. */
static int start_and_send(struct app *app, const struct start_order *order,
			  const struct strbuf *message, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_delivery_result struct delivery_result result = { 0 };
	if (start_and_wait(app, order, &started, err) < 0)
		return -1;
	const struct instance *instance = started.instance;
	const bool is_up = started.already || started.outcome == OUTCOME_REPORTED ||
			   started.outcome == OUTCOME_ALIVE;
	const struct delivery_request request = {
		.base = order->base,
		.text = message->data,
		.length = message->length,
		.timeout_ms = MESSAGE_TIMEOUT_MS,
		.wait = true,
	};
	if (!app->json && (!app->quiet || !is_up))
		print_start(app, &started);
	if (is_up && deliver(&app->deck, &request, &result, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_of_start(&app->deck, &started);
		json_add_changes(object, order);
		if (is_up)
			message_add_json(object, instance->id, &result);
		print_json(object);
		return is_up && result.delivery == DELIVERY_SUBMITTED ? 0 : 1;
	}
	if (!is_up)
		return 1;
	if (message_judge(instance->title, instance->id, &result, err) < 0)
		return -1;
	if (!app->quiet)
		say("%s: message submitted", instance->title);
	return 0;
}

static int start_as_wished(struct app *app, const struct start_order *order, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf message = { 0 };
	if (!given->message && !given->message_file)
		return run_start(app, order, err);
	if (message_read(given->message, given->message_file, &message, err) < 0)
		return -1;
	return start_and_send(app, order, &message, err);
}

/* A copy gets the message; the session that has the conversation does not. */
static int start_instead(struct app *app, const struct decision *outcome, struct error *err)
{
	const struct options *given = app->options;
	const struct start_order order = {
		.base = outcome->base,
		.how = { .leaves_setup = given->no_setup, .place.may_rebuild = given->rebuild },
		.no_wait = given->no_wait,
		.no_supervise = given->no_supervise,
	};
	if (outcome->way == DECISION_ATTACH) {
		if (given->message || given->message_file)
			complain("the message was not sent");
		return attach_chosen(app, outcome, ATTACH_FULLY, err);
	}
	int r = start_as_wished(app, &order, err);
	return r == 0 && given->attach ? attach_chosen(app, outcome, ATTACH_FULLY, err) : r;
}

static int start(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	const bool restart = app->command == &command_session_restart;
	cleanup_strvec struct strvec changes = { 0 };
	cleanup_decision struct decision decision = { 0 };
	const struct lifecycle_order how = {
		.kind = restart ? START_AFTER_STOP : START_UNLESS_RUNNING,
		.wish = given->fresh ? START_FRESH : START_RESUME,
		.takes_over = app->takes_over,
		.leaves_setup = given->no_setup,
		.place.may_rebuild = given->rebuild,
	};
	if (decide_start(app, row, &how, &decision, err) < 0)
		return -1;
	if (decision.base)
		return start_instead(app, &decision, err);
	if (decision.way != DECISION_GO_ON)
		return decision.way == DECISION_LEAVE ? 1 : 0;
	if (restart || !decide_may_ask(app))
		decide_tell(app, row, &changes);
	const struct start_order order = {
		.base = row->base,
		.how = how,
		.no_wait = given->no_wait,
		.no_supervise = given->no_supervise,
		.tree_changes = &changes,
	};
	int r = start_as_wished(app, &order, err);
	if (r == 0 && given->attach && !app->json)
		return run_attach(app, row->base, ATTACH_FULLY, err);
	return r;
}

static int cmd_session_start(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const bool restart = app->command == &command_session_restart;
	cleanup_several struct several several = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	if (given->no_wait)
		strvec_push(&words, "--no-wait");
	if (given->no_supervise)
		strvec_push(&words, "--no-supervise");
	if (given->fresh)
		strvec_push(&words, "--fresh");
	if (given->rebuild)
		strvec_push(&words, "--rebuild");
	if (given->no_setup)
		strvec_push(&words, "--no-setup");
	struct several_verb verb = {
		.act = start,
		.result = restart ? "restarted" : "running",
		.concerns = restart ? several_is_active : NULL,
		.timeout_ms = crew_timeout_ms(app),
		.words = words,
	};
	int r = several_work(app, &verb, err);
	if (r != SEVERAL_NONE)
		return r;
	if ((given->message || given->message_file) && given->no_wait)
		return error_set(err, ERROR_USAGE,
				 "--no-wait cannot be used with a message, which waits for the "
				 "agent: omit one of them");
	if (several_choose(app, &app->operands, &verb, &several, err) < 0)
		return -1;
	if (given->attach && (several.is_set || several.count > 1))
		return error_set(err, ERROR_USAGE, "--attach requires exactly one SESSION");
	cleanup_strbuf struct strbuf message = { 0 };
	if ((several.is_set || several.count > 1) && (given->message || given->message_file)) {
		if (message_read(given->message, given->message_file, &message, err) < 0)
			return -1;
		if (message.length > MESSAGE_MAX)
			return error_set(err, ERROR_USAGE,
					 "a message to several sessions may have %d bytes",
					 MESSAGE_MAX);
		strvec_push(&words, "--message-file=-");
		verb.words = words;
		verb.input = message.data;
		verb.input_length = message.length;
	}
	return several_run(app, &several, &verb, err);
}

const struct command command_session_start = {
	.name = "session start",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "start sessions, each with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_start,
};

const struct command command_session_restart = {
	.name = "session restart",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "restart sessions, each with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_start,
};
