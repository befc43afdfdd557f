/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which processes run in the machine as the user of the sessions.
 */
#pragma once

#include "persistence/machine.h"

struct census {
	/* strays: agentdeck itself, clients of tmux, strace. */
	unsigned servers, agents, strays;
	const char *text;
};

struct census take_census(void);

/* Assert that so many tmux servers and demo agents run, at once and lastingly, and that all other
 * processes of ours end soon.  where: for the message. */
void assert_census(unsigned expected, const char *where);
