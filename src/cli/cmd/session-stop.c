/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

static int run(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	bool was_running;
	if (lifecycle_stop(&app->deck, row->base, &was_running, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_bool(object, "was_running", was_running);
	return print_done(app, object,
			  xasprintf("%s: %s", row->title,
				    was_running ? "stopped" : "was not running"));
}

static const struct command_option options[] = {
	OPTION_TAKE_OVER,
	{ 0 },
};

const struct command command_session_stop = {
	.name = "session stop",
	.arguments = "SESSION",
	.summary = "end a session's agent and every process of it",
	.options = options,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run,
};
