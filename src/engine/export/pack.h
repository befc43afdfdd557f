/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions with their conversations into one file (driver/archive/archive.h): what
 * `agentdeck session export` does.
 *
 * The file has what another machine or account needs to go on: what the user said about a session,
 * and the conversation.  It has no environment, no login, and nothing of a container.  The launch
 * prompt and the ids in a command stay behind, too.
 */
#pragma once

#include "engine/deck/deck.h"

struct pack_order {
	const char *base; /* of the session */
	const char *file; /* an absolute path that does not exist yet */
	bool may_run;     /* the session may run: its last turn may be missing */
};

struct pack_result {
	bool runs, has_conversation;
};

/* ERROR_INVALID: it runs, or the agent's conversations cannot be looked at.  ERROR_NOT_FOUND: its
 * conversation is not on disk.  ERROR_EXISTS: the file is there already. */
int pack_session(struct deck *deck, const struct pack_order *order, struct pack_result *ret,
		 struct error *err);
