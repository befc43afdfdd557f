/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All sessions of all profiles, also those in the trash: whatever bears one of their ids is theirs.
 */
#pragma once

#include "driver/engine/engine.h"
#include "engine/deck/deck.h"
#include "model/plan/reconcile.h"

struct known_session {
	char *id, *base, *title, *profile, *directory;
	enum stray_session where; /* STRAY_OF_LISTED or STRAY_OF_REMOVED */
	char *tree;               /* that was made for it, or NULL */
	/* of a session in a container, else NULL; it may have something of the session, or not */
	char *engine;
	bool has_container;
	struct engine_address address;
};

struct known {
	struct known_session *sessions; /* listed ones first */
	size_t count;
};
void known_clear(struct known *known);
#define cleanup_known CLEANUP(known_clear)

/* An error if a single profile cannot be read: then it is not known what has no session.  A session
 * whose manifest is damaged is known by its directory. */
int known_gather(const struct deck *deck, struct known *ret, struct error *err);

/* The session of this id; NULL: there is none.  Borrowed. */
const struct known_session *known_find(const struct known *known, const char *id);
/* The listed one that works in this directory or below it. */
const struct known_session *known_in(const struct known *known, const char *path);
