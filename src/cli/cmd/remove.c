/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/several.h"
#include "cli/show/output.h"

static int remove_one(struct app *app, const struct store_row *row, struct error *err)
{
	if (lifecycle_remove(&app->deck, row->base, row->damage != NULL, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "session_id", row->session_id);
	return print_done(app, object,
			  row->session_id
				  ? xasprintf("Removed %s (%s). Its conversation %s stays with %s.",
					      row->title, row->id, row->session_id, row->agent)
				  : xasprintf("Removed %s (%s).", row->title, row->id));
}

static int run(struct app *app, struct error *err)
{
	const struct several_verb verb = {
		.act = remove_one,
		.result = "removed",
		.timeout_ms = several_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	return several_do(app, &app->operands, &verb, err);
}

static const struct command_option options[] = {
	OPTIONS_SEVERAL,
	OPTION_TAKE_OVER,
	{ 0 },
};

const struct command command_remove = {
	.name = "remove",
	.arguments = "[SESSION...]",
	.summary = "stop sessions and remove them from the list",
	.options = options,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = run,
};
