/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "driver/archive/archive.h"
#include "engine/deck/hint.h"
#include "engine/export/move-tree.h"
#include "engine/export/pack.h"

#include <stdlib.h>
#include <unistd.h>

struct options {
	const char *move, *have;
	bool running, removes;
};

static const struct command_option options[] = {
	{ 0, "running", NULL, "also while it runs: the last turn may be missing",
	  TO_FLAG(running) },
	{ 0, "remove", NULL, "then move the session to the trash here", TO_FLAG(removes) },
	{ 0, "move", "ID", "of agentdeck session move, which calls this", TO_TEXT(move),
	  .is_hidden = true },
	{ 0, "tree-but", "COMMITS", "with --move: its tree instead, without what these have",
	  TO_TEXT(have), .is_hidden = true },
	{ 0 },
};

/* The file itself is all that standard output may have. */
static int check_output(const struct app *app, struct error *err)
{
	const struct options *given = app->options;
	if (given->removes || app->json)
		return error_set(err, ERROR_USAGE, "%s needs a file: name one instead of -",
				 given->removes ? "--remove" : "--json");
	if (isatty(STDOUT_FILENO))
		return error_set(err, ERROR_USAGE,
				 "standard output is a terminal: name a file, or use a pipe");
	return 0;
}

static int cmd_session_export(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	cleanup_free char *name = app->operands.count > 1 ? xstrdup(app->operands.items[1])
							  : xasprintf("agentdeck-%s.tar", row->id);
	struct pack_result result;
	const struct pack_order order = {
		.base = row->base,
		.file = name,
		.may_run = given->running,
		.move = given->move,
		.removes = given->removes,
	};
	if (given->running && given->removes)
		return error_set(err, ERROR_USAGE,
				 "--remove and --running exclude each other: stop the session");
	if (given->removes && given->move)
		return error_set(err, ERROR_USAGE, "--remove and --move exclude each other");
	if (streq(name, ARCHIVE_STANDARD) && check_output(app, err) < 0)
		return -1;
	if (given->have)
		return given->move && streq(name, ARCHIVE_STANDARD)
			       ? move_send_tree(&app->deck, row->base, given->move, given->have,
						err)
			       : error_set(err, ERROR_USAGE, "--tree-but needs --move and -");
	if (pack_session(&app->deck, &order, &result, err) < 0)
		return -1;
	if (streq(name, ARCHIVE_STANDARD))
		return 0;
	/* A script may read it in another directory. */
	cleanup_free char *path = realpath(name, NULL);
	struct json_object *object = json_success(row->id, row->title);
	json_set(object, "file", json_text(path ? path : name));
	json_set_bool(object, "has_conversation", result.has_conversation);
	json_set_bool(object, "was_running", result.runs);
	json_set_bool(object, "was_removed", given->removes);
	cleanup_free char *undo = hint_undo(&app->deck, row->title, row->id, true);
	return print_done(
		app, object,
		xasprintf("%s: exported to %s%s%s%s%s%s", row->title, name,
			  result.has_conversation ? "" : " (it has no conversation yet)",
			  result.runs ? "; it is in use, so the last turn may be missing" : "",
			  given->removes ? ", and removed here: " : "", given->removes ? undo : "",
			  given->removes ? " restores it" : ""));
}

const struct command command_session_export = {
	.name = "session export",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION [FILE]",
	.summary = "write a session and its conversation to a file",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | WRITES_A_FILE | HAS_JSON,
	.run = cmd_session_export,
};
