/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who sends a report: the token that it carries, and the process that ran `agentdeck hook`.
 *
 * Agents run a hook through a shell (agent -> sh -c "... hook ..." -> agentdeck hook), or directly.
 * The sender is the nearest ancestor of the hook that is not such a shell.  A process is known by
 * its pid and its start time, which execve(2) keeps: an agent that executes itself in place stays
 * the same sender.  An agent that another one has started has its own process, and inherits the
 * token.
 */
#pragma once

#include "model/session/instance.h"

enum { SENDER_DEPTH = 64 };

struct sender {
	const char *token; /* borrowed, or NULL */
	/* The run that it names in the directory of its container, which serves as its token; the
	 * processes are as seen in there.  Borrowed; NULL: it comes from no container. */
	const char *run;
	/* The sender, and its ancestors, nearest first.  0: it is not known who it is. */
	struct process_id processes[SENDER_DEPTH];
	size_t count;
};

enum sender_relation {
	SENDER_UNKNOWN,
	SENDER_AGENT,  /* the process of the pane, or the one that reported first in this attempt */
	SENDER_NESTED, /* a descendant of the one that reported first in this attempt */
};

/* Fill in the processes, for this process as the hook.  To be called before the report is read:
 * what has ended by then cannot be found any more. */
void sender_find(struct sender *sender);

/* The processes as a hook in the container of this run saw them become those of this machine.  One
 * that has ended is known by its start time alone. */
void sender_find_outside(struct sender *sender, const struct run *run);

enum sender_relation sender_relation(const struct sender *sender, const struct run *run);
