/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	bool was_running;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    lifecycle_stop(&app->deck, row->base, &was_running, err) < 0)
		return -1;
	cleanup_free char *title = visible(row->title);
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_bool(object, "success", true);
		json_set_string(object, "id", row->id);
		json_set_string(object, "title", row->title);
		json_set_bool(object, "was_running", was_running);
		print_json(object);
	} else {
		printf("%s: %s\n", title, was_running ? "stopped" : "was not running");
	}
	return 0;
}

const struct command command_session_stop = {
	.name = "session stop",
	.arguments = "SESSION",
	.summary = "end a session's agent and every process of it",
	.description =
		"The agent is asked first, so that it writes its transcript; what is left after [stop] timeout\n"
		"is killed.  The conversation stays, and session start brings it back.",
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
