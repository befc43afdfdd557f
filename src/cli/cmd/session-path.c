/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

static int run(struct app *app, struct error *err UNUSED)
{
	const struct store_row *row = app->session;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "path", row->lookup_directory);
	if (app->json)
		return print_done(app, object, NULL);
	json_object_put(object);
	/* As it is, for cd "$(agentdeck path SESSION)". */
	printf("%s\n", row->lookup_directory);
	return 0;
}

const struct command command_session_path = {
	.name = "session path",
	.arguments = "SESSION",
	.summary = "print the directory in which a session works",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run,
};
