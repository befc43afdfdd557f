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

/* A look at one session, which may be removed meanwhile; id NULL: none. */
struct screens_look {
	struct screens *screens;
	char *profile, *id;
};

/* The looker's parts: all borrowed, and there for as long as the loop runs.  usual_files:
 * filelimit_raise() has set it, or may do so later. */
struct screens {
	struct deck *deck;
	const char *program; /* agentdeck */
	struct loop *loop;
	struct roster *roster;
	const struct rlimit *usual_files;
	struct screens_look looks[4]; /* at the same time: a server may be slow to answer */
};

/* Look at the screen of this session, now or, if too many looks run, soon. */
void screens_look(struct screens *screens, struct roster_entry *entry);

/* When the loop runs no more. */
void screens_clear(struct screens *screens);
