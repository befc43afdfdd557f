/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck supervise --main`: the main program of a host that an engine makes, a Pod, a container
 * or a job (engine/deck/incarnation.h).
 *
 * The engine starts, watches and ends it: PID 1 of a container, the program of a batch
 * script.  It holds the state directory, so that no two hosts start one conversation.  It starts
 * the supervisor, which restarts what is to run, and starts it again when it ends.  The tmux
 * servers are started by it (base/spawner.h), because the tree of a command can be killed.  It
 * reaps every orphan.  At SIGTERM it ends the agents in order; they are to run again.
 */
#pragma once

#include "engine/deck/deck.h"

struct main_order {
	const char *name; /* what the engine calls this incarnation, or NULL; borrowed */
	int64_t grace_ms; /* from SIGTERM to the end */
	int lease_s;      /* 0: the engine runs no two at once */
};

/* Until SIGTERM, SIGINT or SIGUSR1: 0.  ERROR_BUSY: another one holds the state directory, or may.
 * ERROR_TIMEOUT: the state directory could not be written for so long that another one may take it;
 * everything here was ended. */
int main_run(struct deck *deck, const struct main_order *order, struct error *err);
