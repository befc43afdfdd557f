/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    lifecycle_remove(&app->deck, row->base, row->damage != NULL, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_bool(object, "success", true);
		json_set_string(object, "id", row->id);
		json_set_string(object, "title", row->title);
		json_set_string(object, "session_id", row->session_id);
		print_json(object);
		return 0;
	}
	cleanup_free char *title = visible(row->title);
	printf("Removed %s (%s).", title, row->id);
	if (row->session_id)
		printf(" Its conversation %s stays with %s.", row->session_id, row->agent);
	printf("\n");
	return 0;
}

const struct command command_remove = {
	.name = "remove",
	.arguments = "SESSION",
	.summary = "stop a session and forget it",
	.description = "The agent's own transcripts and the directory are the user's, and stay.",
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
