/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"
#include "engine/export/unpack.h"
#include "model/session/naming.h"

struct options {
	const char *directory, *title, *group, *move, *session, *from, *instead;
};

static const struct command_option options[] = {
	{ 0, "directory", "PATH", "where it works here, instead of its old directory",
	  TO_VALUE(directory, VALUE_DIRECTORY) },
	{ 't', "title", "TITLE", "its title; default: the one that it had", TO_TEXT(title) },
	{ 'g', "group", "GROUP", "a group to list it under; without it the one that it had",
	  TO_TEXT(group) },
	{ 0, "move", "ID", "of agentdeck session move, which calls this", TO_TEXT(move),
	  .is_hidden = true },
	{ 0, "session", "ID", "the session that moves", TO_TEXT(session), .is_hidden = true },
	{ 0, "from", "HOST", "the end that it moves from", TO_TEXT(from), .is_hidden = true },
	{ 0, "instead", "ID", "the move that it may replace", TO_TEXT(instead), .is_hidden = true },
	{ 0 },
};

static int cmd_session_import(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *made = NULL;
	const struct unpack_order order = {
		.file = app->operands.items[0],
		.directory = given->directory,
		.title = given->title,
		.group = given->group,
		.move = given->move,
		.session = given->session,
		.from = given->from,
		.instead = given->instead,
	};
	if (given->move && (!naming_is_uuid(given->move) || !given->session || !given->from))
		return error_set(err, ERROR_USAGE,
				 "--move takes the id of a move, a UUID, and needs --session and "
				 "--from");
	if (unpack_session(&app->deck, &order, &made, err) < 0)
		return -1;
	struct json_object *object = json_of_instance(&app->deck, made);
	cleanup_free char *hint = hint_session(&app->deck, made->title, made->id);
	cleanup_free char *command = visible_argv(strvec_argv(&made->argv));
	json_set_bool(object, "success", true);
	return print_done(app, object,
			  xasprintf("%s (%s): imported; agentdeck session start %s runs: %s",
				    made->title, made->id, hint, command));
}

const struct command command_session_import = {
	.name = "session import",
	.kind = COMMAND_CHANGES,
	.arguments = "FILE",
	.summary = "make a session of an exported file",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON,
	.run = cmd_session_import,
};
