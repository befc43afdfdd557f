/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/pick.h"
#include "cli/wish.h"

static int run(struct app *app, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_wish struct wish wish = { 0 };
	if (wish_read(app, &wish, err) < 0 || pick_ask(app, &wish, err) < 0 ||
	    lifecycle_add(&app->deck, &wish.wish, &instance, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_success(instance);
		json_set_string(object, "path", instance->cwd);
		json_set_string(object, "agent", instance->agent);
		json_set_string(object, "session_id", instance->conversation.session_id);
		print_json(object);
	} else {
		cleanup_free char *title = visible(instance->title);
		printf("Added %s (%s, %s). Start it with: agentdeck start %s\n", title, instance->id,
		       instance->agent, instance->id);
	}
	return 0;
}

const struct command command_add = {
	.name = "add",
	.arguments = "[PATH] [-- ARG...]",
	.summary = "make a session for a directory, without starting it",
	.description =
		"PATH is the directory that the agent works in; without it the current one.  Words after\n"
		"-- are handed to the agent.  Its conversation id is chosen now, where the agent takes one.\n"
		"On a terminal you are asked which agent it is for, unless --agent, -c or default_agent in\n"
		"config.toml says so.",
	.options = wish_options,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON | HAS_REST,
	.run = run,
};
