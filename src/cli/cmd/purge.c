/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"

#include "engine/place/alive.h"
#include "engine/run/stop.h"

struct options {
	bool branches, force, discard;
};

static const struct command_option options[] = {
	{ 0, "branches", NULL,
	  "also the branch that agentdeck made for its worktree, if it is merged",
	  TO_FLAG(branches) },
	{ 0, "discard", NULL, "give up work that only its worktree or clone has",
	  TO_FLAG(discard) },
	{ 'f', "force", NULL, "do not ask; stop it if it runs", TO_FLAG(force) },
	OPTION_TAKE_OVER,
	{ 0 },
};

/* In a container its agent's home is the session's. */
static bool owns_conversation(const struct store_row *row)
{
	return !streq(or_empty(row->backend), PLACE_DEFAULT);
}

/* runs: it does now; what starts after the question was not agreed to.  ASK_CANCELLED: its user
 * does not want it. */
static int confirm(struct app *app, const struct store_row *row, bool runs, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *title = visible(row->title);
	if (given->force)
		return 0;
	cleanup_free char *without = xasprintf("%s would be deleted for good: add --force to do it",
					       title);
	const char *more = owns_conversation(row) ? ", with its container and its conversation"
						  : "";
	cleanup_free char *question =
		runs ? xasprintf("%s is running. Stop it, and delete it for good%s? There is no "
				 "undo.",
				 title, more)
		     : xasprintf("Delete %s for good%s? There is no undo.", title, more);
	const struct consent consent = { question, "Nothing was deleted.", "--force", without,
					 ERROR_INVALID };
	return ask_consent(app, &consent, err);
}

static int cmd_purge(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	const bool runs = place_is_live(&row->run);
	int r = confirm(app, row, runs, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	const struct removal_order order = {
		.takes_over = app->takes_over,
		.how = given->force || runs ? REMOVE_ANYWAY : REMOVE_STOPPED,
		.may_lose_work = given->discard,
		.branches = given->branches ? BRANCHES_MERGED : BRANCHES_STAY,
	};
	if (lifecycle_purge(&app->deck, row->base, &order, err) < 0)
		return -1;
	return print_done(app, json_success(row->id, row->title),
			  xasprintf("Deleted %s (%s) for good.%s", row->title, row->id,
				    row->session_id && !owns_conversation(row)
					    ? " Its conversation stays with its agent."
					    : ""));
}

const struct command command_purge = {
	.name = "purge",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "remove a session and delete all that it has, without undo",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_purge,
};
