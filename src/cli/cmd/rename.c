/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/run/change.h"

static int cmd_rename(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	const char *title = app->operands.items[1];
	struct setting setting = { .field = SETTING_TITLE, .value = title };
	if (lifecycle_set(&app->deck, row->base, &setting, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, title);
	json_set_string(object, "old_title", row->title);
	return print_done(app, object, xasprintf("%s is now %s", row->title, title));
}

const struct command command_rename = {
	.name = "rename",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION TITLE",
	.summary = "give a session another title",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_rename,
};
