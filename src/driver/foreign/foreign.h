/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Readers of other programs' sessions.  They change nothing of theirs, and leave nothing there.
 *
 * Texts from there are untrusted: files and texts are bounded, and JSON is parsed strictly.
 */
#pragma once

#include "model/plan/import.h"

struct foreign_place {
	const char *home; /* the user's home directory */
	const char *from; /* the user's own place to look in; NULL: the program's usual ones */
	const char *(*lookup)(const char *name); /* getenv(), or a test's */
};

struct foreign_source {
	const char *name;  /* "agent-deck" */
	const char *about; /* where its sessions are, for messages */
	bool is_offered; /* its place is known, so it is looked at when its user names no source */
	/* Append its sessions to *ret.  FOREIGN_ABSENT: it has nothing there, and *ret is as it
	 * was. After an error *ret may have some of the rows. */
	int (*read)(const struct foreign_place *place, struct import_rows *ret, struct error *err);
};
enum { FOREIGN_ABSENT = 1 };

extern const struct foreign_source foreign_agent_deck;

/* Every source, NULL at the end. */
extern const struct foreign_source *const foreign_sources[];
/* NULL: there is none of this name.  Borrowed. */
const struct foreign_source *foreign_find(const char *name);
