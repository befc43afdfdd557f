/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/shapes.h"

#include "engine/deck/hint.h"
#include "engine/run/undo.h"

struct options {
	const char *title;
};

static const struct command_option options[] = {
	{ 't', "title", "TITLE", "bring it back with another title", TO_TEXT(title) },
	{ 0 },
};

static int run(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *target = app->operands.count ? app->operands.items[0] : NULL;
	cleanup_instance struct instance *instance = NULL;
	if (undo_removal(&app->deck, target, given->title, &instance, err) < 0)
		return -1;
	if (!instance)
		return print_done(app, json_success(NULL, NULL),
				  xstrdup("Brought back a session whose manifest is corrupt: "
					  "agentdeck list says why."));
	struct json_object *object = json_of_instance(&app->deck, instance);
	json_set_bool(object, "success", true);
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	return print_done(app, object,
			  xasprintf("Brought back %s (%s). Start it with: agentdeck start %s",
				    instance->title, instance->id, hint));
}

const struct command command_undo = {
	.name = "undo",
	.arguments = "[TITLE]",
	.summary = "bring back a removed session",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
