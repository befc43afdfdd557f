/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "base/log.h"
#include "base/process.h"
#include "engine/pane.h"
#include "engine/runfiles.h"

#include <signal.h>
#include <string.h>

/* Nothing comes after us in this pane: a server without an agent must not stay.  It is our parent.  Its
 * socket is of no use: that is gone by now, or the next run's; and only its name tells a server of ours
 * from that of a person who calls this by hand. */
static void end_own_server(const char *id)
{
	struct process_id server;
	const char *tmux = or_empty(getenv("TMUX"));
	cleanup_free char *end = xasprintf("/%s/" RUN_SOCKET, id);
	cleanup_free char *socket = xstrndup(tmux, strcspn(tmux, ","));
	if (ends_with(socket, end) && process_identify(getppid(), &server, NULL) == 0)
		(void)process_signal(&server, SIGTERM, NULL);
}

static int run(struct app *app, struct error *err)
{
	bool died = getenv(ENV_PANE_DIED) != NULL;
	int r = pane_become(&app->deck, app->operands.items[0], app->operands.items[1], died, err);
	if (r < 0)
		log_error("pane: %s", err->message);
	if (r < 0 && (died || err->code == ERROR_INVALID || err->code == ERROR_NOT_FOUND)) {
		cleanup_free char *shown = visible(err->message);
		fprintf(stderr, "agentdeck: %s\n", shown);
		end_own_server(app->operands.items[0]);
	}
	/* A first rung that cannot be executed is a failed rung: tmux takes the next. */
	return r ? 127 : 0;
}

const struct command command_pane = {
	.name = "pane",
	.arguments = "INSTANCE RUN",
	.summary = "become the agent of a run (tmux calls this)",
	.description = "",
	.min_operands = 2,
	.max_operands = 2,
	.flags = NEEDS_STORE | IS_HIDDEN,
	.run = run,
};
