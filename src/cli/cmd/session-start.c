/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/several.h"
#include "cli/cmd/start.h"

struct options {
	bool no_wait, fresh, attach;
};

static const struct command_option options[] = {
	{ 0, "no-wait", NULL, "return when the session is recorded, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 0, "fresh", NULL, "begin a new conversation, and keep the old one as it is",
	  TO_FLAG(fresh) },
	{ 'a', "attach", NULL, "attach to it afterwards", TO_FLAG(attach) },
	OPTIONS_SEVERAL,
	OPTION_TAKE_OVER,
	{ 0 },
};

static int start(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	const bool restart = app->command == &command_session_restart;
	const struct start_order order = {
		.base = row->base,
		.kind = restart ? START_AFTER_STOP : START_UNLESS_RUNNING,
		.wish = given->fresh ? START_FRESH : START_RESUME,
		.no_wait = given->no_wait,
	};
	int r = run_start(app, &order, err);
	if (r == 0 && given->attach && !app->json)
		return run_attach(app, row->base, ATTACH_FULLY, err);
	return r;
}

static int run(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const bool restart = app->command == &command_session_restart;
	cleanup_several struct several several = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	if (given->no_wait)
		strvec_push(&words, "--no-wait");
	if (given->fresh)
		strvec_push(&words, "--fresh");
	const struct several_verb verb = {
		.act = start,
		.result = restart ? "restarted" : "running",
		.leaves_idle = restart,
		.timeout_ms = several_timeout_ms(app),
		.words = words,
	};
	int r = several_work(app, &verb, err);
	if (r != SEVERAL_NONE)
		return r;
	if (several_choose(app, &app->operands, &verb, &several, err) < 0)
		return -1;
	if (given->attach && (several.is_set || several.count > 1))
		return error_set(err, ERROR_USAGE, "--attach requires exactly one SESSION");
	return several_run(app, &several, &verb, err);
}

const struct command command_session_start = {
	.name = "session start",
	.arguments = "[SESSION...]",
	.summary = "start sessions, each with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = run,
};

const struct command command_session_restart = {
	.name = "session restart",
	.arguments = "[SESSION...]",
	.summary = "restart sessions, each with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = run,
};
