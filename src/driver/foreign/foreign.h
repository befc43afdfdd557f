/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Readers of other programs' sessions.  They change nothing of theirs, and leave nothing there.
 * Only foreign_visit_hooks() with FOREIGN_REMOVE changes something: settings of the agents.
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
	const struct foreign_hooks *hooks; /* that it leaves in agents' settings; NULL: none */
};
enum { FOREIGN_ABSENT = 1 };

extern const struct foreign_source foreign_agent_deck;
extern const struct foreign_source foreign_squad;
extern const struct foreign_source foreign_directories;
extern const struct foreign_source foreign_empires;
extern const struct foreign_source foreign_tmux_assistant_resurrect;
extern const struct foreign_source foreign_tmux_resurrect;

/* A settings file of an agent that has hooks of the program, or that may have some. */
struct foreign_hooked {
	char *path;
	size_t count; /* events */
	/* The lines that go, with "-" before each, and those that take their place, with "+";
	 * before them "@@ LINE @@".  No other line: those beside them may have secrets. */
	char *changes;
	char *copy;       /* the name of the file as it was, beside it; NULL: it was not changed */
	struct error why; /* it could not be read, or not be changed */
};
struct foreign_hooked_files {
	struct foreign_hooked *items;
	size_t count;
};
void foreign_hooked_files_free(struct foreign_hooked_files *files);
#define cleanup_foreign_hooked_files CLEANUP(foreign_hooked_files_free)

/* Find the hooks of a source that has some in the agents' settings, and remove them, if that is
 * wanted: every other byte of a file stays, and so do its mode and its group.  A file that fails
 * has its error in *ret, and the next one is visited. */
enum foreign_removal { FOREIGN_SHOW, FOREIGN_REMOVE };
void foreign_visit_hooks(const struct foreign_source *source, const struct foreign_place *place,
			 enum foreign_removal removal, struct foreign_hooked_files *ret);

/* An origin of an earlier version, as the readers of this one write it.  The caller frees. */
char *foreign_current_origin(const char *origin) MUST_USE;

/* Every source, NULL at the end, and how many they are. */
extern const struct foreign_source *const foreign_sources[];
size_t foreign_count(void);
/* NULL: there is none of this name.  Borrowed. */
const struct foreign_source *foreign_find(const char *name);
