/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trees whose session is gone: its manifest was deleted, or half of a backup was restored.
 * What is known of them is in the record beside the tree (docs/workspaces.md), which is believed
 * only where it says what is there.
 */
#pragma once

#include "driver/store/store.h"
#include "engine/workspace/stamp.h"
#include "model/workspace/verdict.h"

struct orphan {
	char *path;   /* of the tree; of its directory, if it has none */
	char *name;   /* of the tree; NULL: there is none */
	char *root;   /* the tree is <root>/<id>/<name>; NULL: it is in the profile */
	char *source; /* the repository that has a record of it, or NULL */
	struct verdict verdict;
	struct tree_stamp seen; /* before the verdict */
};
void orphan_clear(struct orphan *orphan);
#define cleanup_orphan CLEANUP(orphan_clear)

/* The ids of all directories of trees in the profile, with or without a session. */
int orphan_list(const struct store *store, struct strvec *ret, struct error *err);

/* Look at the one of this id, and judge its tree.  path: that of the profile.  ORPHAN_ABSENT. */
enum { ORPHAN_ABSENT = 1 };
int orphan_look(const struct store *store, const char *path, const char *id, struct orphan *ret,
		struct error *err);

/* Delete what orphan_look() has found safe.  The caller holds the profile's lock, and has looked
 * again whether a session has the id. */
int orphan_delete(const struct store *store, const char *id, const struct orphan *orphan,
		  struct error *err);
