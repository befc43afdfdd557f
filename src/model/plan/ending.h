/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is freed, kept or asked when an agent has ended by its own wish.  docs/workspaces.md has the
 * table.
 *
 * The directory that the user named is never deleted: only what agentdeck made for the session.
 *
 * Pure: what is known goes in, the decision comes out.
 */
#pragma once

#include "model/session/instance.h"

/* Whether this end of its agent was its own wish, or its user's in it: it ended by itself, with
 * status 0, and agentdeck was not stopping it.  A signal, another status (also one that a shell
 * makes of a signal), a lack of memory and an engine that stops are not. */
bool ending_is_wish(const struct exit_record *record);

/* What the user has answered. */
enum ending_wish {
	ENDING_BY_POLICY, /* the user was not asked */
	ENDING_KEEP_IT,   /* free the container; the tree, the home and the session stay */
	ENDING_CLEAN_IT,  /* everything goes; what would be lost with it was shown */
};

struct ending_facts {
	enum end_policy policy; /* settings_end_policy() */
	enum ending_wish wish;
	bool has_container;
	bool has_tree;      /* one to itself, and it is there */
	bool is_safe;       /* nothing that is in the tree would be lost */
	bool is_as_made;    /* making the tree again would give the same: its commit, its branch */
	bool has_processes; /* some that its agent has left still run */
};

enum ending_act {
	ENDING_LEAVE,  /* everything that is not freed stays, and nothing is to be asked */
	ENDING_ASK,    /* everything stays until its user has said what is to become of it */
	ENDING_REMOVE, /* the session, with all that was made for it */
};

struct ending_plan {
	enum ending_act act;
	bool frees_container, frees_tree; /* of ENDING_LEAVE */
};

struct ending_plan ending_decide(const struct ending_facts *facts);
