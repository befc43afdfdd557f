/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/image.h"
#include "cli/cmd/neworder.h"
#include "cli/cmd/pick.h"
#include "cli/cmd/roles.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"

struct options {
	struct new_options session;
};

static const struct command_option options[] = {
	NEW_OPTIONS(session),
	{ 0 },
};

static int cmd_add(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *instance = NULL;
	cleanup_new_order struct new_order order = { 0 };
	if (new_read(app, &given->session, &order, err) < 0)
		return -1;
	int r = pick_ask(app, &order, err);
	if (r == 0)
		r = image_add(app, &order.session, &instance, err);
	if (r != 0)
		return r;
	new_note_neighbour(app, instance);
	if (!order.role.file)
		role_hint(app, &given->session.container, order.session.directory);
	struct json_object *object = json_of_instance(&app->deck, instance);
	json_set_bool(object, "success", true);
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	(void)print_done(app, object,
			 xasprintf("Added %s (%s, %s). Start it with: agentdeck start %s",
				   instance->title, instance->id, instance->agent, hint));
	new_say_tree(app, instance);
	if (instance->conversation.origin == ORIGIN_ADOPTED && !app->json)
		say("It continues conversation %s.", instance->conversation.session_id);
	return 0;
}

static struct offer offer(const struct app *line, bool behind_dashes)
{
	const struct options *given = line->options;
	return behind_dashes ? new_offer(&given->session) : (struct offer){ 0 };
}

const struct command command_add = {
	.name = "add",
	.kind = COMMAND_CHANGES,
	.arguments = "[PATH] [-- ARG...]",
	.summary = "make a session for a directory, without starting it",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON | HAS_REST,
	.run = cmd_add,
	.offer = offer,
};
