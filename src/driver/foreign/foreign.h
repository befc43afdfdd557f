/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Readers of other programs' sessions.  They change nothing of theirs, and leave nothing there.
 * Only remove_hooks() changes something: settings of the agents.
 *
 * Texts from there are untrusted: files and texts are bounded, and JSON is parsed strictly.
 */
#pragma once

#include "model/plan/import.h"

struct foreign_place {
	const char *home; /* the user's home directory */
	const char *from; /* the user's own place: a directory or, for a list, a file, absolute;
			   * NULL: the program's usual ones */
	const char *(*lookup)(const char *name); /* getenv(), or a test's */
};

struct foreign_source {
	const char *name;  /* "agent-deck" */
	const char *about; /* where its sessions are, for messages */
	bool is_offered;   /* its place is known: without a name, we look whether it is there */
	/* Append its sessions to *ret.  FOREIGN_ABSENT: it has nothing there, and *ret is as it
	 * was. After an error *ret may have some of the rows. */
	int (*read)(const struct foreign_place *place, struct import_rows *ret, struct error *err);
	/* Remove its hooks from the agents' settings.  Appends a line for each file that was
	 * changed, with the name of its copy beside it; after an error, too.  NULL: it has none. */
	int (*remove_hooks)(const struct foreign_place *place, struct strvec *ret,
			    struct error *err);
};
enum { FOREIGN_ABSENT = 1 };

extern const struct foreign_source foreign_agent_deck;
extern const struct foreign_source foreign_squad;
extern const struct foreign_source foreign_directories;
extern const struct foreign_source foreign_empires;
extern const struct foreign_source foreign_tmux_assistant_resurrect;
extern const struct foreign_source foreign_tmux_resurrect;

/* An origin of an earlier version, as the readers of this one write it.  The caller frees. */
char *foreign_current_origin(const char *origin) MUST_USE;

/* Every source, NULL at the end, and how many they are. */
extern const struct foreign_source *const foreign_sources[];
size_t foreign_count(void);
/* NULL: there is none of this name.  Borrowed. */
const struct foreign_source *foreign_find(const char *name);
