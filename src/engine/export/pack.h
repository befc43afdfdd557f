/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions with their conversations into one file (driver/archive/archive.h): what
 * `agentdeck session export` and `agentdeck backup` do.
 *
 * The file has what another machine or account needs to continue: what the user said about a
 * session, and the conversation.  It has no environment, no login, and nothing of a container.  The
 * launch prompt and the ids in a command stay behind, too.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/export/preferences.h"
#include "engine/run/operation.h"

struct pack_order {
	const char *base; /* of the session */
	const char *file; /* a path that does not exist yet */
	/* the session may run, or its conversation be open outside of agentdeck: its last turn may
	 * be missing */
	bool may_run;
	/* the id of the move that this is a part of: only that packs a session that is leaving.
	 * NULL: of none */
	const char *move;
	bool removes; /* it goes to the trash then; not with may_run */
};

struct pack_result {
	bool runs; /* or its conversation was open outside of agentdeck */
	bool has_conversation;
};

/* The file is whole and durable before a session is removed, and nothing can start it in between:
 * killed there, it is in both places.  If it cannot be removed, the file stays.
 *
 * ERROR_INVALID: it runs, another process has its conversation, or the agent's conversations cannot
 * be looked at.  ERROR_NOT_FOUND: its conversation is not on disk.  ERROR_EXISTS: the file is there
 * already. */
int pack_session(struct deck *deck, const struct pack_order *order, struct pack_result *ret,
		 struct error *err);

/* Could pack_session() pack the whole of it, and nothing else writes into its conversation?  The
 * operation has its agent.  Errors as of pack_session(). */
int pack_check(struct operation *operation, struct error *err);

/* ERROR_INVALID: another session has its conversation open, or has picked it.  The operation has
 * its agent. */
int pack_check_holders(const struct operation *operation, struct error *err);

/* The whole deck: the sessions of all profiles, config.toml and the user's own agents.  It
 * leaves out the trash, containers and trees. */
struct pack_deck_order {
	const char *file; /* a path that does not exist yet */
	/* called before each session; NULL: no progress is shown */
	void (*looks)(void *data, size_t index, size_t count);
	void *data;
};

struct pack_item {
	char *profile, *id, *title;
	bool is_packed; /* false: its manifest or its agent cannot be read, or is not valid */
	bool has_conversation;
	bool runs; /* so its last turn may be missing */
	char *why; /* it, its conversation or something else of it is not packed; NULL: all is */
};
struct pack_list {
	struct pack_item *items; /* as listed, one profile after the other */
	size_t count;
	struct preferences_left left;
};
void pack_list_free(struct pack_list *list);
#define cleanup_pack_list CLEANUP(pack_list_free)

/* A session that cannot come along, or not with its conversation, does not stop the others: its
 * item says why.  ERROR_EXISTS: the file is there already. */
int pack_deck(struct deck *deck, const struct pack_deck_order *order, struct pack_list *ret,
	      struct error *err);
