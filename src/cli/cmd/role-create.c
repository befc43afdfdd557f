/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsonio.h"
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/role/create.h"

static int cmd_role_create(struct app *app, struct error *err)
{
	const char *directory = app->operands.count ? app->operands.items[0] : ".";
	cleanup_free char *path = NULL;
	if (role_create(directory, &path, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set(object, "path", json_text(path));
	return print_done(app, object, xasprintf("Wrote %s, and a Dockerfile beside it.", path));
}

const struct command command_role_create = {
	.name = "role create",
	.kind = COMMAND_CHANGES,
	.arguments = "[PATH]",
	.summary = "write a role to begin with",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_role_create,
};
