/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who runs in the machine as the user of the sessions.
 */
#pragma once

#include "persistence/machine.h"

struct census {
	/* strays: agentdeck itself, clients of tmux, strace. */
	unsigned servers, agents, strays;
	const char *text;
};

struct census take_census(void);

/* So many tmux servers and demo agents, at once and for good; and nobody else of ours, as soon as
 * what is about to end has ended.  where: for the message. */
void assert_census(unsigned expected, const char *where);
