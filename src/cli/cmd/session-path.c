/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/workspace/tree.h"

/* A tree that is gone is no place to go to. */
static int check_tree(struct app *app, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	const struct store_row *row = app->session;
	if (!row->workspace)
		return 0;
	if (deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	cleanup_free char *absence = tree_absence(&app->deck, instance);
	return absence ? error_set(err, ERROR_NOT_FOUND, "%s", absence) : 0;
}

static int cmd_session_path(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	if (check_tree(app, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "path", row->lookup_directory);
	if (app->json)
		return print_done(app, object, NULL);
	json_object_put(object);
	/* Without quotes or marks, for cd "$(agentdeck path SESSION)". */
	printf("%s\n", row->lookup_directory);
	return 0;
}

const struct command command_session_path = {
	.name = "session path",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "print the directory in which a session works",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_path,
};
