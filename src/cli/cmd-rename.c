/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	const char *title = app->operands.items[1];
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    lifecycle_rename(&app->deck, row->base, title, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_bool(object, "success", true);
		json_set_string(object, "id", row->id);
		json_set_string(object, "title", title);
		json_set_string(object, "old_title", row->title);
		print_json(object);
		return 0;
	}
	cleanup_free char *old = visible(row->title);
	cleanup_free char *new = visible(title);
	printf("%s is now %s\n", old, new);
	return 0;
}

const struct command command_rename = {
	.name = "rename",
	.arguments = "SESSION TITLE",
	.summary = "give a session another title",
	.description = "",
	.min_operands = 2,
	.max_operands = 2,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
