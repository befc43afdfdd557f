/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/session-move.h"
#include "cli/show/output.h"
#include "driver/archive/archive.h"
#include "driver/git/cargo.h"
#include "engine/deck/hint.h"
#include "engine/export/move-tree.h"
#include "engine/export/unpack.h"
#include "model/session/naming.h"

struct options {
	const char *directory, *title, *group, *move, *session, *from, *instead, *tree;
	bool is_tree;
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
	{ 0, "tree", "COMMIT", "its tree, which came before", TO_TEXT(tree), .is_hidden = true },
	{ 0, "is-tree", NULL, "the file is that tree", TO_FLAG(is_tree), .is_hidden = true },
	{ 0 },
};

/* Nothing else changes until the session comes. */
static int take_tree(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *base = NULL;
	if (!given->move || !given->directory || !streq(app->operands.items[0], ARCHIVE_STANDARD))
		return error_set(err, ERROR_USAGE, "--is-tree needs --move, --directory and -");
	if (move_find_there(app, given->session, &base, err) < 0 ||
	    move_receive_tree(&app->deck, base, given->directory, err) < 0)
		return -1;
	return print_done(app, json_success(given->session, given->session),
			  xasprintf("%s: its tree is there", given->session));
}

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
		.tree = given->tree,
	};
	if (given->move && (!naming_is_uuid(given->move) || !given->session || !given->from))
		return error_set(err, ERROR_USAGE,
				 "--move takes the id of a move, a UUID, and needs --session and "
				 "--from");
	if (given->is_tree)
		return take_tree(app, err);
	if (given->tree && (!given->move || !cargo_is_commit(given->tree)))
		return error_set(err, ERROR_USAGE, "--tree takes a commit, and needs --move");
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
