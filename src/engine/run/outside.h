/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A conversation that a process outside of agentdeck has: an agent that its user runs elsewhere, or
 * one that a take-over has not ended yet.
 */
#pragma once

#include "engine/run/operation.h"

/* The agent that a take-over was to end: may it live?  On another machine its user says so.
 * ret: as of taken_look(). */
enum taken_state outside_taken(const struct operation *operation, struct process_id *ret);

enum outside {
	OUTSIDE_NOTHING, /* nothing shows one */
	OUTSIDE_PROCESS, /* it has the conversation open */
	OUTSIDE_MACHINE, /* another machine's, and it is not known here whether it has ended */
};
/* A run of the session itself that lives: neither these nor what is below them is outside.  All
 * zero: there is none. */
struct outside_own {
	struct process_id server, pane, reporter;
};
/* The process that has a conversation which the run's ladder would continue.  The operation has
 * its agent, and the run is planned; it need not be the one that lives.  *ret is untouched for
 * OUTSIDE_NOTHING. */
enum outside outside_find(const struct operation *operation, const struct outside_own *own,
			  struct process_id *ret);

/* The process that has the conversation which the session has now.  Not while it runs.  As
 * outside_find() otherwise. */
enum outside outside_find_present(const struct operation *operation, struct process_id *ret);

/* While the session runs: the process that has its conversation beside its own agent, or in the
 * shell in the agent's place.  false: nothing shows one. */
bool outside_find_beside(struct deck *deck, const struct instance *instance,
			 struct process_id *ret);
