/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ends an agent that runs in its user's own terminal, and reads its last words: many agents name
 * their conversation only at an orderly end.
 */
#pragma once

#include "base/process.h"
#include "model/agent/registry.h"

struct farewell {
	const struct agent *agent; /* all borrowed */
	const struct process_id *process;
	const char *socket, *pane; /* of the user's tmux; NULL: we cannot read its pane */
	int64_t patience_ms;       /* time to end after being asked */
};

/* Whether this agent can be asked in a way that makes it say its id, and we can read it.  It needs
 * keys for that ([keys] banner, else quit), because many agents end without a word at a signal.
 * False while another program has its terminal. */
bool farewell_is_heard(const struct farewell *farewell);

/* FAREWELL_STAYED: it neither ended nor named its conversation; it was only asked. */
enum { FAREWELL_STAYED = 1 };

/* When farewell_is_heard(): press these keys, and wait until it has ended or said its id.  *ret is
 * the id that it said just now, NULL when it ended without one; the caller's.  Earlier text of the
 * terminal does not count. */
int farewell_hear(const struct farewell *farewell, char **ret, struct error *err);

/* End it and the processes it started: SIGTERM to the agent alone, which knows how to end its own
 * processes, and after patience_ms SIGKILL to all of these.  tree: the processes before it was
 * asked. ERROR_TIMEOUT: some survived even that. */
int farewell_end(const struct farewell *farewell, const struct process_id *tree, size_t count,
		 struct error *err);
