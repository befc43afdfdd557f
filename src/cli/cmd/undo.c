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
	{ 't', "title", "TITLE", "restore it with another title", TO_TEXT(title) },
	{ 0 },
};

static int cmd_undo(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *target = app->operands.count ? app->operands.items[0] : NULL;
	cleanup_instance struct instance *instance = NULL;
	if (undo_removal(&app->deck, target, given->title, &instance, err) < 0)
		return -1;
	if (!instance)
		return print_done(app, json_success(NULL, NULL),
				  xstrdup("Restored a session whose manifest is corrupt: "
					  "agentdeck list says why."));
	struct json_object *object = json_of_instance(&app->deck, instance);
	json_set_bool(object, "success", true);
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	return print_done(app, object,
			  xasprintf("Restored %s (%s). Start it with: agentdeck start %s",
				    instance->title, instance->id, hint));
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	return (struct offer){ .kind = line->operands.count ? VALUE_BY_ARGUMENT : VALUE_REMOVED };
}

const struct command command_undo = {
	.name = "undo",
	.kind = COMMAND_CHANGES,
	.arguments = "[TITLE]",
	.summary = "get a removed session back",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_undo,
	.offer = offer,
};
