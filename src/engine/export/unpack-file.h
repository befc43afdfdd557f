/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that pack.h made, open and checked, and what its reader wants of it.
 */
#pragma once

#include "driver/archive/archive.h"
#include "model/session/parcel.h"

struct unpack_order {
	const char *file;      /* absolute */
	const char *directory; /* instead of its own; or NULL */
	const char *title;     /* the same */
	const char *group;     /* the same */
	const char *move;      /* the id of the move that it arrives with (arrive.h); or NULL */
	/* For a move: the session that has to be in the file, and the end that it comes from */
	const char *session, *from;
	/* For a move: the one that the session here was last seen in, which it may replace.  NULL:
	 * there was none */
	const char *instead;
	/* For a move: its tree, which comes along (tree_unpack()); NULL: it stays */
	const char *tree;
	/* "OLD=NEW": what was in the directory OLD is in NEW here.  NULL: all is where it was.
	 * Borrowed */
	const struct strvec *moves;
};

struct unpack_file {
	struct archive archive;
	struct parcels parcels;
};
#define UNPACK_NO_FILE ((struct unpack_file){ .archive = { .fd = -1 } })
void unpack_close(struct unpack_file *file);
#define cleanup_unpack CLEANUP(unpack_close)

/* Open the file, and check all of it: form, sizes, digests.  ERROR_CORRUPT, ERROR_NEWER. */
int unpack_open(const char *path, struct unpack_file *ret, struct error *err);
