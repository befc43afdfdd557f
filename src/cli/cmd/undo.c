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

static int restore(struct app *app, const char *target, bool is_alone, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *instance = NULL;
	cleanup_json struct json_object *object = NULL;
	if (undo_removal(&app->deck, target, given->title, &instance, err) < 0)
		return -1;
	object = instance ? json_of_instance(&app->deck, instance) : json_success(NULL, NULL);
	json_set_bool(object, "success", true);
	if (app->json && !is_alone) {
		print_json_line(object);
		return 0;
	}
	cleanup_free char *hint = instance ? hint_session(&app->deck, instance->title, instance->id)
					   : NULL;
	return print_done(app, TAKE_PTR(object),
			  instance
				  ? xasprintf("Restored %s (%s). Start it with: agentdeck start %s",
					      instance->title, instance->id, hint)
				  : xstrdup("Restored a session whose manifest is corrupt: "
					    "agentdeck list says why."));
}

static void tell_failure(const struct app *app, const struct error *why)
{
	if (!app->json) {
		complain("%s", why->message);
		return;
	}
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_failure(object, why);
	print_json_line(object);
}

/* What one command has removed comes back as one.  Those that cannot stay in the trash. */
static int cmd_undo(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec bases = { 0 };
	size_t failed = 0;
	if (app->operands.count || given->title)
		return restore(app, app->operands.count ? app->operands.items[0] : NULL, true, err);
	if (undo_last(&app->deck, &bases, err) < 0)
		return -1;
	if (bases.count == 1)
		return restore(app, bases.items[0], true, err);
	for (size_t i = 0; i < bases.count; i++) {
		cleanup_error struct error why = { 0 };
		if (restore(app, bases.items[i], false, &why) == 0)
			continue;
		failed++;
		tell_failure(app, &why);
	}
	if (!app->json && !app->quiet)
		printf("%zu sessions: %zu restored%s\n", bases.count, bases.count - failed,
		       failed ? ", the others stay in the trash" : "");
	return failed ? 1 : 0;
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	return (struct offer){ .kind = line->operands.count ? VALUE_BY_ARGUMENT : VALUE_REMOVED };
}

const struct command command_undo = {
	.name = "undo",
	.kind = COMMAND_CHANGES,
	.arguments = "[TITLE]",
	.summary = "get removed sessions back",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_undo,
	.offer = offer,
};
