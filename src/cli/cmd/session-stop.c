/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/several.h"
#include "cli/show/output.h"
#include "engine/run/stop.h"

static int stop(struct app *app, const struct store_row *row, struct error *err)
{
	const struct stop_order order = { .takes_over = app->takes_over };
	bool was_running;
	if (lifecycle_stop(&app->deck, row->base, &order, &was_running, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_bool(object, "was_running", was_running);
	return print_done(app, object,
			  xasprintf("%s: %s", row->title,
				    was_running ? "stopped" : "was not running"));
}

static int cmd_session_stop(struct app *app, struct error *err)
{
	const struct several_verb verb = {
		.act = stop,
		.result = "stopped",
		.concerns = several_is_wanted,
		.timeout_ms = crew_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	return several_do(app, &app->operands, &verb, err);
}

static const struct command_option options[] = {
	OPTIONS_SEVERAL,
	OPTION_TAKE_OVER,
	{ 0 },
};

const struct command command_session_stop = {
	.name = "session stop",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "stop sessions: end each agent and all of its processes",
	.options = options,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_stop,
};
