/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a role is, as its user types it: a directory, or a Git repository, as PLACE[@REF][#SUBDIR].
 * The place is https://HOST/PATH, ssh://HOST/PATH, [USER@]HOST:PATH, file:///PATH, or a path.
 *
 * Pure: text in, struct out.
 */
#pragma once

#include "base/text.h"

struct role_what {
	char *url;     /* the place as git takes it; of a path of this machine, that path */
	char *ref;     /* a branch, a tag, or a commit with all of its digits; NULL: not named */
	char *subdir;  /* relative, without "." and ".."; NULL: not named */
	bool is_local; /* the place is a path of this machine */
};
void role_what_clear(struct role_what *what);
#define cleanup_role_what CLEANUP(role_what_clear)

/* ROLE_WHAT_PATH: the text begins with no URL. */
enum { ROLE_WHAT_PATH = 1 };

/* Read a place that is a URL.  ERROR_USAGE: it is one that a role does not come from. */
int role_what_read(const char *text, struct role_what *ret, struct error *err);

/* Like role_what_read(), but the first length bytes are a path, and "@" or "#" follow. */
int role_what_read_path(const char *text, size_t length, struct role_what *ret, struct error *err);

/* Is this a commit with all of its digits? */
bool role_what_is_commit(const char *ref);
