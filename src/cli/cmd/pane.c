/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/log.h"
#include "engine/run/pane.h"
#include "engine/terminal/terminal.h"

static int cmd_pane(struct app *app, struct error *err)
{
	bool died = getenv(ENV_PANE_DIED) != NULL;
	int r = pane_become(&app->deck, app->operands.items[0], app->operands.items[1], died, err);
	if (r < 0)
		log_error("pane: %s", err->message);
	if (r < 0 && (died || err->code == ERROR_INVALID || err->code == ERROR_NOT_FOUND)) {
		complain("%s", err->message);
		terminal_end_own(app->operands.items[0]);
	}
	/* If the first rung cannot be executed it has failed: tmux takes the next. */
	return r ? PANE_NOT_RUN : 0;
}

const struct command command_pane = {
	.name = "pane",
	.kind = COMMAND_INTERNAL,
	.arguments = "INSTANCE RUN",
	.summary = "become the agent of a run (tmux calls this)",
	.flags = NEEDS_STORE,
	.run = cmd_pane,
};
