/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

/* A session that should run and does not (its machine was restarted, its server was killed) is brought
 * back: same command, same place, same conversation.  One that was stopped stays stopped. */
static int bring_back(struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	lifecycle_view_row(row, &view);
	if (view.state == STATE_RUNNING || row->rung == RUNG_SHELL || option_given(app, "no-start"))
		return 0;
	cleanup_free char *title = visible(row->title);
	if (row->desired == DESIRED_STOPPED)
		return error_set(err, ERROR_INVALID, "%s is stopped: bring it back with agentdeck start %s",
				 title, row->id);
	fprintf(stderr, "agentdeck: %s is not running (%s): bringing it back\n", title,
		view.reason ? view.reason : instance_state_name(view.state));
	return run_start(app, row->base, false, true, true, err);
}

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_REFUSED, "attaching needs a terminal: run agentdeck attach %s "
				 "from one", row->id);
	int r = bring_back(app, row, err);
	return r != 0 ? r : run_attach(app, row->base, err);
}

static const struct command_option options[] = {
	{ 'r', "read-only", NULL, "look, and let no key through" },
	{ 0, "no-start", NULL, "do not bring back a session that was lost" },
	{ 0 },
};

const struct command command_session_attach = {
	.name = "session attach",
	.arguments = "SESSION",
	.summary = "work in a session; Ctrl-Q leaves it running",
	.description =
		"A session that was lost (a restart of the machine, a kill) is brought back first, with its\n"
		"conversation.  Exit status 3 without a terminal, and inside another tmux.",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE,
	.run = run,
};
