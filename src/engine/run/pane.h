/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What runs in a run's pane: it becomes the agent.
 *
 * tmux executes "agentdeck pane ID RUN" when the server is made, and again whenever the process in
 * the pane has ended.  The first time it becomes the rung that the manifest names; every other time
 * it judges how the last one ended, writes down the next and becomes that, or writes down the end
 * and ends the server.  So the ladder is climbed although neither a command nor a supervisor is
 * left to watch.
 */
#pragma once

#include "engine/deck/deck.h"

/* The rung cannot be executed; the pane shows why, and when this process ends tmux takes the next. */
enum { PANE_RUNG_FAILED = 1 };
/* What the process of the pane ends with then. */
enum { PANE_NOT_RUN = 127 };

/* Returns only when the pane cannot become anything: the error says why (the caller shows it in the
 * pane), PANE_RUNG_FAILED, or 0 when the run is over and its server has been told to end.
 * base: the instance; run_id: the run that this pane was made for; another run's pane ends its
 * server. died: the process before us ended (ENV_PANE_DIED). */
int pane_become(struct deck *deck, const char *base, const char *run_id, bool died,
		struct error *err);
