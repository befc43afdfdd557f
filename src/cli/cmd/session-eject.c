/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/run/lifecycle.h"

struct options {
	bool force;
};

static const struct command_option options[] = {
	{ 'f', "force", NULL, "stop the session first if it runs", TO_FLAG(force) },
	{ 0 },
};

static int run(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	if (lifecycle_eject(&app->deck, row->base, given->force ? REMOVE_ANYWAY : REMOVE_STOPPED,
			    err) < 0)
		return -1;
	return print_done(app, json_success(row->id, row->title),
			  xasprintf("%s: its container was removed; the next start makes it again",
				    row->title));
}

const struct command command_session_eject = {
	.name = "session eject",
	.arguments = "SESSION",
	.summary = "remove a session's container; its conversation stays",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run,
};
