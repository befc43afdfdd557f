/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/several.h"
#include "cli/show/output.h"
#include "engine/run/sight.h"

struct options {
	bool stop;
};

static const struct command_option options[] = {
	{ 0, "stop", NULL, "stop sessions that run first", TO_FLAG(stop) },
	OPTIONS_SEVERAL,
	{ 0 },
};

static const struct command_option back_options[] = { OPTIONS_SEVERAL, { 0 } };

static bool is_archived(const struct store_row *row)
{
	return row->archived_at != 0;
}

static int print(struct app *app, const struct store_row *row, const char *now, bool is_same)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_bool(object, "was_archived", is_archived(row));
	return print_done(app, object,
			  xasprintf("%s: %s%s", row->title, is_same ? "is already " : "", now));
}

static int archive(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	const int r = lifecycle_archive(&app->deck, row->base, given->stop, err);
	return r < 0 ? -1 : print(app, row, "archived", r == SIGHT_SAME);
}

static int unarchive(struct app *app, const struct store_row *row, struct error *err)
{
	const int r = lifecycle_unarchive(&app->deck, row->base, err);
	return r < 0 ? -1 : print(app, row, "out of the archive", r == SIGHT_SAME);
}

static int cmd_session_archive(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec words = { 0 };
	if (given->stop)
		strvec_push(&words, "--stop");
	const struct several_verb verb = {
		.words = words,
		.act = archive,
		.none = "Every session there is archived: nothing to do.",
		.result = "archived",
		.timeout_ms = crew_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	return several_do(app, &app->operands, &verb, err);
}

static int cmd_session_unarchive(struct app *app, struct error *err)
{
	const struct several_verb verb = {
		.act = unarchive,
		.concerns = is_archived,
		.takes_archived = true,
		.none = "No session there is archived: nothing to do.",
		.result = "taken out of the archive",
		.timeout_ms = crew_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	return several_do(app, &app->operands, &verb, err);
}

const struct command command_session_archive = {
	.name = "session archive",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "put sessions out of sight, and keep them",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_archive,
};

const struct command command_session_unarchive = {
	.name = "session unarchive",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "list archived sessions again with the others",
	.options = back_options,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_session_unarchive,
};
