/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Versions of the installed agents, from the output of each with the arguments that its entry
 * names.
 *
 * The answers are kept in <state>/agent-versions.json until the program's file changes, because
 * many agents take a second to answer.
 */
#pragma once

#include "model/agent/registry.h"

struct agent_seen {
	const struct agent *agent; /* borrowed */
	char *path;                /* of its program; NULL: not installed */
	char *version;             /* NULL: no such arguments, or no answer within 3 s */
};

/* Find the programs of these agents, and ask those that are installed.  The caller frees each with
 * agent_seen_clear(). */
void agentversion_look(const char *state, const struct agent *const *agents, size_t count,
		       struct agent_seen *ret);
void agent_seen_clear(struct agent_seen *seen);

/* The program to find in PATH; the user's shell for an agent without a command.  Borrowed. */
const char *agentversion_program(const struct agent *agent);

/* The first part of text that looks like a version, without a leading "v": "1.2",
 * "2026.01.28-fd13201". NULL: none.  The caller frees. */
char *agentversion_find(const char *text) MUST_USE;
