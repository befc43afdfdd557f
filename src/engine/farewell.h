/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ending an agent that runs in its user's own terminal, and hearing what it says then: many name their
 * conversation at an end in order, and at no other time.
 */
#pragma once

#include "base/process.h"
#include "model/registry.h"

struct farewell {
	const struct agent *agent;        /* all borrowed */
	const struct process_id *process;
	const char *socket, *pane;        /* of the user's tmux; NULL: it cannot be heard */
	int64_t patience_ms;              /* how long it may take to end when it is asked */
};

/* Can this agent be asked in a way that makes it say its id, and be heard?  Not without keys for it ([keys] banner, else
 * quit), since a signal ends many without a word; nor while another program has its terminal. */
bool farewell_is_heard(const struct farewell *farewell);

/* FAREWELL_STAYED: it neither ended nor named its conversation; nothing was done but to ask. */
enum { FAREWELL_STAYED = 1 };

/* For one that is heard: press these keys, and wait until it has ended or said its id.  *ret is the id that it said just now, NULL when it ended without; the caller's.  What the terminal had said
 * before does not count. */
int farewell_hear(const struct farewell *farewell, char **ret, struct error *err);

/* End it and what it started: SIGTERM to the agent alone, which knows how to end what it started, and after
 * patience_ms SIGKILL to all of these.  tree: what there was before it was asked.
 * ERROR_TIMEOUT: not even that. */
int farewell_end(const struct farewell *farewell, const struct process_id *tree, size_t count,
		 struct error *err);
