/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which versions of the agents are installed, as they say it themselves when they are run with the
 * arguments that their entries name.
 *
 * What they said is kept in <state>/agent-versions.json until the program's file changes, since
 * many of them take a second to say it.
 */
#pragma once

#include "model/registry.h"

struct agent_seen {
	const struct agent *agent; /* borrowed */
	char *path;                /* of its program; NULL: not installed */
	char *version;             /* NULL: it cannot be asked, or did not say it within 3 s */
};

/* Look for these agents' programs, and ask those that are there.  The caller frees each with
 * agent_seen_clear(). */
void agentversion_look(const char *state, const struct agent *const *agents, size_t count,
		       struct agent_seen *ret);
void agent_seen_clear(struct agent_seen *seen);

/* What is looked for in PATH; the user's shell for an agent without a command.  Borrowed. */
const char *agentversion_program(const struct agent *agent);

/* The first thing in text that looks like a version: "1.2", "2026.01.28-fd13201", without a "v"
 * before it.  NULL: none.  The caller frees. */
char *agentversion_find(const char *text) MUST_USE;
