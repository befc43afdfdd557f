/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"

struct options {
	bool no_wait, fresh, attach;
};

static const struct command_option options[] = {
	{ 0, "no-wait", NULL, "return when the session is durable, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 0, "fresh", NULL, "leave the old conversation alone and begin a new one",
	  TO_FLAG(fresh) },
	{ 'a', "attach", NULL, "and attach to it", TO_FLAG(attach) },
	OPTION_TAKE_OVER,
	{ 0 },
};

static int run(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
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

const struct command command_session_start = {
	.name = "session start",
	.arguments = "SESSION",
	.summary = "start a session, or bring it back with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run,
};

const struct command command_session_restart = {
	.name = "session restart",
	.arguments = "SESSION",
	.summary = "stop a session and start it again with its conversation",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run,
};
