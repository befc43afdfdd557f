/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Start the agent: the child that becomes it.
 */
#pragma once

#include "capsule/frame.h"

#include <sys/types.h>

struct spawn {
	const struct frame_start *start;
	const char *directory; /* the capsule's */
	int terminal;          /* becomes the agent's controlling terminal */
	int client;            /* the socket on which the child sends STARTED */
};

/* The agent has been executed when this returns 0.  ERROR_CHILD: why it could not be executed; the
 * child has been reaped. */
int spawn_agent(const struct spawn *spawn, pid_t *ret, struct error *err);
