/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One session out of a file of ours, on its way in: what becomes of its directories, its home and
 * its conversation here.  Private to this folder.
 */
#pragma once

#include "engine/deck/known.h"
#include "engine/export/unpack-file.h"
#include "engine/run/add.h"

enum entry_kind {
	/* A session from elsewhere: what is here and differs is another conversation. */
	ENTRY_IMPORT,
	/* A session that was here: a conversation that grew since is its own.  The id of one that
	 * is not in the file counts, and a tree that is gone is replaced by its directory. */
	ENTRY_RESTORE,
	/* A session that moves here (arrive.h): it keeps its id, and its conversation may continue
	 * the one that it left here. */
	ENTRY_MOVE,
};

struct entry {
	enum entry_kind kind;
	const struct parcel *parcel; /* borrowed, as is agent */
	const struct agent *agent;
	struct lifecycle_new wish; /* borrows from all of this */
	char *origin, *directory, *launch, *home;
	char *place; /* of its conversation, below the home; NULL: none comes along */
	char *id;    /* of the session, which has its conversation in its own place; or NULL */
	char *config_home;                /* its agent's home; NULL: that of this command */
	const struct known_session *self; /* it comes into this one; NULL: into a new one */
	bool is_replaced;                 /* its tree is not here: it works in the repository */
	bool is_rehomed; /* the home that its agent had cannot be used: it has the usual one */
};
void entry_clear(struct entry *entry);
#define cleanup_entry CLEANUP(entry_clear)

/* Does "OLD=NEW" (struct unpack_order) say where this path of the file is here? */
bool entry_is_moved(const char *move, const char *path);
/* Where a path of the file is here.  The caller frees. */
char *entry_moved(const struct strvec *moves, const char *path) MUST_USE;

/* Settle all of it for the deck's profile; kind and parcel are set.  Changes nothing.  After a
 * failure the origin is set, and the directories and then the agent if they are here.
 * ERROR_NOT_FOUND: its directory or its agent is not here. */
int entry_settle(struct deck *deck, const struct unpack_file *file,
		 const struct unpack_order *order, struct entry *entry, struct error *err);

/* All sessions.  ERROR_CORRUPT: one cannot be read, and may have any conversation. */
int entry_find_owners(const struct deck *deck, struct known *ret, struct error *err);
/* ERROR_EXISTS: one of these, which is not `self`, is this session, or has its conversation. */
int entry_check_owners(const struct entry *entry, const struct known *known, struct error *err);

/* Whether its conversation is in its place already.  ERROR_EXISTS: another one of this id is on
 * this disk.  ERROR_SYSTEM: also if a directory that may have it cannot be read. */
int entry_check_disk(const struct entry *entry, bool *ret_is_there, struct error *err);

/* Put its conversation in its place, where wish.id finds it.  After a failure no place of a session
 * is left. */
int entry_plant(struct deck *deck, const struct unpack_file *file, struct entry *entry,
		struct error *err);

/* The session of this id (NULL: nothing to do) was not made, or was removed: take back what
 * entry_plant() put in its own place.  While the session is in the deck's profile, nothing is
 * removed. */
void entry_uproot(struct deck *deck, const struct parcel *parcel, const char *id);
