/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "base/log.h"
#include "driver/tmux.h"
#include "engine/pane.h"
#include "engine/runfiles.h"

#include <signal.h>
#include <string.h>

/* Nothing comes after us in this pane: a server without an agent must not stay. */
static void end_own_server(void)
{
	const char *tmux = getenv("TMUX");
	if (is_empty(tmux))
		return;
	cleanup_free char *socket = xstrndup(tmux, strcspn(tmux, ","));
	struct process_id server;
	if (tmux_kill_server(socket, NULL) == 0 && access(socket, F_OK) == 0)
		return;
	/* Without its socket it can be reached as our parent only, which a pane's first process has. */
	int64_t pid;
	cleanup_free char *field = tmux[strlen(socket)] ? xstrdup(tmux + strlen(socket) + 1) : xstrdup("");
	field[strcspn(field, ",")] = '\0';
	if (parse_int64(field, 1, INT32_MAX, &pid) && pid == getppid() &&
	    process_identify((pid_t)pid, &server, NULL) == 0)
		(void)process_signal(&server, SIGTERM, NULL);
}

static int run(struct app *app, struct error *err)
{
	bool died = getenv(ENV_PANE_DIED) != NULL;
	int r = pane_become(&app->deck, app->operands.items[0], app->operands.items[1], died, err);
	if (r < 0)
		log_error("pane: %s", err->message);
	if (r < 0 && (died || err->code == ERROR_INVALID || err->code == ERROR_NOT_FOUND)) {
		fprintf(stderr, "agentdeck: %s\n", err->message);
		end_own_server();
	}
	/* A first rung that cannot be executed is a failed rung: tmux takes the next. */
	return r < 0 ? 127 : 0;
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
