/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What bring.c calls for what a fetch of the tree does not bring.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What Git LFS and git-annex store beside the objects of a clone's Git directory, into that of the
 * repository: files whose digest is their name, and which it does not have.  *ret: how many.
 * ERROR_TIMEOUT, ERROR_SYSTEM: not all of them; the next call continues. */
int bring_copy_content(const char *directory, const char *common, int64_t deadline_ms, int64_t *ret,
		       struct error *err);

/* Commits of submodules that the commits of a tree name, since one of them. */
struct bring_modules {
	const char *tree;           /* work tree */
	const char *from;           /* its Git directory */
	const char *to;             /* that of the user's repository, which has the commits */
	const char *before, *after; /* before: NULL: nothing */
	bool is_push;               /* others must be able to get them, too */
	int64_t deadline_ms;
	unsigned depth;
};
/* Fetch those that the submodules of the user's repository do not have, which are made if there are
 * none.  ERROR_INVALID: that cannot be done, and nothing was changed that a ref or a file shows. */
int bring_modules(const struct bring_modules *modules, struct error *err);
