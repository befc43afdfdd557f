/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All sessions of this user: those of every profile, and those in the trash.
 */
#pragma once

#include "engine/deck/deck.h"

struct known_session {
	char *profile, *base, *id;
	bool is_removed;           /* it is in the trash */
	bool is_damaged;           /* its manifest is there and cannot be read */
	struct instance *instance; /* NULL: it is damaged, or was removed just now */
};

struct known {
	struct known_session *sessions; /* listed ones first */
	size_t count;
};
void known_clear(struct known *known);
#define cleanup_known CLEANUP(known_clear)

/* Fails if a single profile cannot be read: then it is not known what has no session. */
int known_gather(const struct deck *deck, struct known *ret, struct error *err);

/* The session of this id; NULL: there is none.  Borrowed. */
const struct known_session *known_find(const struct known *known, const char *id);
/* The listed one that works in this directory or below it. */
const struct known_session *known_in(const struct known *known, const char *path);
