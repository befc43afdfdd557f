/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck as a program: the roster, the terminal and its signals on one loop.
 */
#pragma once

#include "engine/deck/deck.h"

/* A wall of screens instead of the list. */
struct wall_order {
	const char *group;      /* only its sessions; NULL: those of all */
	const char *const *ids; /* only these, also if they do not run; NULL: no such choice */
};

struct dashboard_order {
	const char *agentdeck; /* the program for what the user does */
	/* Only choose a session, which this terminal of another session is to show ("": the only
	 * one); NULL: do everything. */
	const char *client;
	const struct wall_order *wall; /* NULL: the list */
};
/* Show the sessions of the deck's profile until the user leaves.  The store is open.  A positive
 * value is the signal that ended it, for the caller to die of; the terminal is restored in every
 * case.  *ret_next, the caller's: the profile to which the user goes; NULL: nowhere. */
int dashboard_run(struct deck *deck, const struct dashboard_order *order, char **ret_next,
		  struct error *err);
