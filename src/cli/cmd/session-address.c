/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/roster/view.h"
#include "model/session/state.h"

static int cmd_session_address(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	cleanup_instance struct instance *instance = NULL;
	cleanup_free char *address = NULL;
	cleanup_view struct view view = view_of(row);
	const struct place *place;
	const bool runs = state_is_running(view.state) && !view.host;
	if (deck_load(&app->deck, row->base, &instance, err) < 0 ||
	    place_find(instance, &place, err) < 0)
		return -1;
	if (place->address(instance, &address, runs ? err : NULL) < 0 && runs)
		return -1;
	if (!address && !app->json)
		return error_set(err, ERROR_INVALID, "%s does not run here: start it first",
				 row->title);
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "address", address);
	json_set_bool(object, "is_running", runs);
	json_set_string(object, "desired", instance_desired_name(row->desired));
	return print_done(app, object, xstrdup(or_empty(address)));
}

const struct command command_session_address = {
	.name = "session address",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "print where its machine reaches the ports of a session",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_address,
};
