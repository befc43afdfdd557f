/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All conversations that agents have on disk, with and without a session: where the registry says
 * that an agent keeps them, in its usual home and in those that sessions use.  Those in the homes
 * of containers are left out.
 *
 * Looking changes nothing, and usually reads of each transcript only the beginning.  Files that are
 * not regular, or are another user's, are left out.
 */
#pragma once

#include "driver/transcript/shelf.h"
#include "engine/deck/deck.h"
#include "model/plan/discover.h"

struct discover_order {
	const char *agent; /* only of this one; NULL: of all.  Borrowed */
	const char
		*directory; /* only of this one (a real path) and those below it; NULL.  Borrowed */
	struct discover_filter filter;
	/* Told before each file is opened: it is number `index` of `count`.  May be NULL */
	void (*looks)(void *data, size_t index, size_t count);
	void *data;
};

struct discover_shelf {
	const struct agent *agent; /* borrowed from the deck */
	char *home;
	struct shelf shelf;
};

struct discovery {
	struct discover_order order;
	struct discover_owners owners;
	struct discover_shelf *shelves;
	size_t shelf_count;
	struct discover_item *items; /* newest first */
	size_t count, next;
	struct json_object *seen; /* what discover_next() has told, where it matters */
	/* How many files and directories could not be read so far, and why not the first one */
	size_t unread;
	char *problem;
};

/* List the names of the files and their owners.  A session whose manifest cannot be read is warned
 * of: it is not known which conversation it has.  ERROR_NOT_FOUND: there is no such agent. */
int discover_open(struct deck *deck, const struct discover_order *order, struct discovery *ret,
		  struct error *err);
void discover_close(struct discovery *discovery);
#define cleanup_discovery CLEANUP(discover_close)

/* A conversation that can be continued: it has a prompt, and its directory is known. */
struct discover_find {
	const struct agent *agent; /* borrowed from the deck */
	/* borrowed from the discovery */
	const char *home, *path, *session_id;
	const struct discover_owner *owner; /* NULL: none */
	int64_t modified_us;
	char *directory; /* where it began, an absolute path that need not exist any more */
	/* The first typed words, on one line and shortened; NULL: they were not read, as they are
	 * an image, or far from the beginning of the file */
	char *words;
};
void discover_find_clear(struct discover_find *find);
#define cleanup_discover_find CLEANUP(discover_find_clear)

/* The next one, the newest first.  What cannot be read is left out, and counted.  DISCOVER_END:
 * there are no more. */
enum { DISCOVER_END = 1 };
int discover_next(struct discovery *discovery, struct discover_find *ret);

/* The one with this session id, or with the only one that begins so (8 characters or more), from a
 * discovery without filters.  ERROR_NOT_FOUND; ERROR_AMBIGUOUS; ERROR_EXISTS: a session has it;
 * ERROR_INVALID: it cannot be resumed. */
int discover_named(const struct discovery *discovery, const char *word, struct discover_find *ret,
		   struct error *err);
