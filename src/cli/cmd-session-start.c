/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	bool restart = app->command == &command_session_restart;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	int r = run_start(app, row->base, restart, !option_given(app, "fresh"),
			  !option_given(app, "no-wait"), err);
	if (r == 0 && option_given(app, "attach") && !app->json)
		return run_attach(app, row->base, err);
	return r;
}

static const struct command_option options[] = {
	{ 0, "no-wait", NULL, "return when the session is durable, without waiting for the agent" },
	{ 0, "fresh", NULL, "leave the old conversation alone and begin a new one" },
	{ 'a', "attach", NULL, "and attach to it" },
	{ 0 },
};

const struct command command_session_start = {
	.name = "session start",
	.arguments = "SESSION",
	.summary = "start a session, or bring it back with its conversation",
	.description =
		"What is there decides: a session that runs is left alone; one that ended, however it did, is\n"
		"resumed with its conversation.  Exit status 1 when the agent ends at once.",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};

const struct command command_session_restart = {
	.name = "session restart",
	.arguments = "SESSION",
	.summary = "stop a session and start it again with its conversation",
	.description = "The agent is asked to end first, so that its transcript is complete.",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
