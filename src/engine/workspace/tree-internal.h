/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share: where trees are.
 *
 *   tree.c          plan a tree, and make it
 *   tree-delete.c   judge it, and delete it
 *   tree-compare.c  would it be the same if it was made again?
 *   orphan.c        judge and delete one whose session is gone (orphan.h)
 *   tree-move.c     its repository is elsewhere now
 *   setup.c         what it gets that Git does not have
 */
#pragma once

#include "engine/deck/deck.h"

#define TREE_ALL     "trees"
#define TREE_ORIGIN  "origin.json"
#define TREE_REMOVED ".removed" /* a tree that is being deleted: it was judged */

/* What agentdeck itself puts beside a tree. */
bool tree_is_ours(const char *name);

/* The last name of a tree's path, if it is where the trees of this session are; else NULL: nothing
 * is made or deleted there.  Borrowed from the instance. */
const char *tree_name(const struct deck *deck, const struct instance *instance);

/* The directory of all trees of the instance.  FS_ABSENT: there is none, and it was not to be made.
 */
int tree_open(const struct deck *deck, const char *id, bool make, int *ret, struct error *err);

/* A tree that may be deleted. */
struct tree_remains {
	const char *id, *name; /* <all>/<id>/<name> */
	const char *path;
	const char *source; /* that knows of it, if it is a linked work tree; else NULL */
};
/* Delete it, and what git knows of it.  all: the directory of all trees. */
int tree_erase(int all, const struct tree_remains *tree, struct error *err);
