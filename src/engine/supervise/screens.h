/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looks at the screens in which something was printed (ROSTER_OUTPUT), for who may not wait for a
 * tmux server.  Each look is a tmux client on the loop.  Only if what the agent does is other than
 * what is known, `agentdeck look` runs, which looks again and writes it down.
 */
#pragma once

#include "base/loop.h"
#include "engine/deck/deck.h"
#include "engine/roster/roster.h"

#include <sys/resource.h>

/* The looker's parts: all borrowed, and there for as long as the loop runs.  usual_files:
 * filelimit_raise() has set it, or may do so later. */
struct screens {
	struct deck *deck;
	struct loop *loop;
	struct roster *roster;
	const struct rlimit *usual_files;
	unsigned running; /* looks; 0 at first */
};

/* Look at the screen of this session, now or, if too many looks run, soon. */
void screens_look(struct screens *screens, struct roster_entry *entry);
