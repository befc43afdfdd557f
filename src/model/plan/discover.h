/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose conversations on disk are: of a session that has them, or had them before, of a session
 * that was removed and can come back, or of none.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/error.h"
#include "base/jsonio.h"
#include "base/text.h"

#include <stdint.h>

/* The closest comes first: of several, the first one counts. */
enum discover_bond {
	DISCOVER_HAS,     /* its conversation now, or the next one of its run */
	DISCOVER_HAD,     /* an earlier one of it */
	DISCOVER_REMOVED, /* of a session in the trash, now or earlier */
};

struct discover_owner {
	char *session_id;
	enum discover_bond bond;
	char *id, *title, *profile; /* of the session */
};
struct discover_owners {
	struct discover_owner *items;
	size_t count;
};

/* Append one, for a session_id that is not NULL.  The texts are copied. */
void discover_owners_add(struct discover_owners *owners, const struct discover_owner *owner);
/* After the last one, before the first question. */
void discover_owners_sort(struct discover_owners *owners);
/* NULL: no session's.  Borrowed. */
const struct discover_owner *discover_owner_of(const struct discover_owners *owners,
					       const char *session_id);
void discover_owners_free(struct discover_owners *owners);

/* A file on disk.  The texts are borrowed. */
struct discover_item {
	const char *path, *session_id;
	int64_t modified_us;                /* µs since the Epoch */
	size_t agent;                       /* its place in the registry */
	size_t shelf;                       /* the caller's */
	const struct discover_owner *owner; /* discover_plan() sets it.  NULL: none; borrowed */
};

struct discover_filter {
	int64_t since_us; /* written at this time or later; 0: at any */
	bool nobodys;     /* only those that belong to no session */
};

/* Sort them, the newest first, and keep what the filter wants.  Of a file that several agents have,
 * the first agent's is kept.  Returns how many are left. */
size_t discover_plan(struct discover_item *items, size_t count,
		     const struct discover_owners *owners, const struct discover_filter *filter);

/* "90s", "30m", "12h", "7d", "2w": µs.  ERROR_USAGE. */
int discover_parse_age(const char *text, int64_t *ret_us, struct error *err);

/* Text as one line: white space of any length becomes one space, and after about `most` bytes it
 * ends with "...".  NULL: NULL.  The caller frees. */
char *discover_shorten(const char *text, size_t most) MUST_USE;

/* The name of the directory as a title that is not among the members of taken, which get it: the
 * value is the number to try next, 1 to begin with, so that thousands of equal names cost one look
 * each.  The caller frees. */
char *discover_title(const char *directory, struct json_object *taken) MUST_USE;
