/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/several.h"
#include "cli/show/output.h"
#include "engine/run/stop.h"

struct options {
	bool force;
};

static const struct command_option options[] = {
	{ 'f', "force", NULL, "stop sessions that run first", TO_FLAG(force) },
	OPTIONS_SEVERAL,
	{ 0 },
};

static bool has_container(const struct store_row *row)
{
	return !row->damage && streq(or_empty(row->backend), PLACE_CONTAINER);
}

static int eject(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	const int r = lifecycle_eject(&app->deck, row->base,
				      given->force ? REMOVE_ANYWAY : REMOVE_STOPPED, err);
	if (r < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_bool(object, "had_container", r == 0);
	return print_done(app, object,
			  xasprintf(r == 0 ? "%s: its container was removed; the next start makes "
					     "it again"
					   : "%s: it has no container now; the next start makes "
					     "one",
				    row->title));
}

static int cmd_session_eject(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec words = { 0 };
	if (given->force)
		strvec_push(&words, "--force");
	const struct several_verb verb = {
		.words = words,
		.act = eject,
		.concerns = has_container,
		.none = "No session there is in a container: nothing to do.",
		.result = "ejected",
		.tells_archived = true,
		.timeout_ms = crew_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	return several_do(app, &app->operands, &verb, err);
}

const struct command command_session_eject = {
	.name = "session eject",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "remove the containers of sessions",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_eject,
};
