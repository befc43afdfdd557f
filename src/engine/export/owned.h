/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All sessions of this user, of every profile and in the trash, for commands that add
 * sessions: a conversation has one owner.
 */
#pragma once

#include "engine/deck/deck.h"

struct owned_session {
	char *profile, *id, *title, *agent;
	char *session_id, *next_session_id; /* as in struct store_row */
	char *origin;                       /* imported_from of the instance */
	bool is_removed;                    /* it is in the trash */
};
struct owned {
	struct owned_session *items;
	size_t count;
};

/* ERROR_CORRUPT: a session cannot be read, and may have any conversation.  A removed one that
 * cannot be read is left out. */
int owned_list(struct deck *deck, struct owned *ret, struct error *err);
void owned_free(struct owned *owned);
#define cleanup_owned CLEANUP(owned_free)

/* The session with this conversation, from this origin, or with this id.  NULL: there is none.
 * Borrowed. */
const struct owned_session *owned_by_conversation(const struct owned *owned, const char *agent,
						  const char *session_id);
const struct owned_session *owned_by_origin(const struct owned *owned, const char *origin);
const struct owned_session *owned_by_id(const struct owned *owned, const char *id);
