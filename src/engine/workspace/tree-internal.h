/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share: where trees are.
 *
 *   tree-place.c    where it is
 *   tree.c          plan a tree, and make it
 *   tree-changes.c  what its agent has made in it
 *   tree-delete.c   judge it, and delete it
 *   tree-cargo.c    all of it, on its way to another host
 *   tree-compare.c  would it be the same if it was made again?
 *   tree-gone.c     what to say of one that is not there
 *   orphan.c        judge and delete one whose session is gone (orphan.h)
 *   users.c         who works in it now (users.h)
 *   tree-move.c     its repository is elsewhere now
 *   setup.c         what it gets that Git does not have
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/workspace/origin.h"

#define TREE_ALL     "trees"
#define TREE_ORIGIN  "origin.json"
#define TREE_REMOVED ".removed" /* a tree that is being deleted: it was judged */
/* In a root that is not in the profile: its id.  The mount point below it has another one, or none.
 */
#define TREE_ROOT_ID ".agentdeck-trees"

/* What agentdeck itself puts beside a tree. */
bool tree_is_ours(const char *name);

/* Why the repository of the instance's tree is not there, with what to do; NULL: it is there, or
 * that is not known.  The caller frees. */
char *tree_source_gone(const struct deck *deck, const struct instance *instance);

/* Git has no record of a worktree that is there: what to do.  NULL: git has one.  The caller frees.
 */
char *tree_record_gone(const struct deck *deck, const struct instance *instance);

/* The record of its tree without what only the tree tells (assess_origin()).  The caller frees. */
struct origin tree_origin(const struct workspace *workspace);

/* What was written down of the tree when it was made.  TREE_ABSENT: nothing.  *ret: origin_free(). */
int tree_read_record(int directory, const struct workspace *workspace, struct origin *ret,
		     struct error *err);

/* The path of the tree of a new session. */
int tree_choose(const struct deck *deck, const char *id, const char *source, char **ret,
		struct error *err);
/* The root of a path <root>/<id>/<name>; NULL: it has another form.  The caller frees. */
char *tree_root_of(const char *path, const char *id);

/* The last name of a tree's path, if it is where a tree of this session can be; else NULL: nothing
 * is made or deleted there.  Borrowed from the instance. */
const char *tree_name(const struct deck *deck, const struct instance *instance);

/* Where a tree is, opened: <root>, and <root>/<id> in it.  Both are ours alone. */
struct tree_place {
	int root, directory;
	bool is_elsewhere; /* not in the directory of the profile */
};
#define TREE_NO_PLACE ((struct tree_place){ .root = -1, .directory = -1 })
void tree_place_close(struct tree_place *place);
#define cleanup_tree_place CLEANUP(tree_place_close)

/* FS_ABSENT: it is not there, and was not to be made.  ERROR_UNAVAILABLE: the root is not there, or
 * is not the one that the tree was made in; it may be a disk that is not mounted. */
int tree_open_place(const struct deck *deck, const struct instance *instance, bool make,
		    struct tree_place *ret, struct error *err);
/* Take the id of the root into the workspace; the first tree gives it one.  The caller saves. */
int tree_note_root(const struct tree_place *place, struct workspace *workspace, struct error *err);
/* The id of an open root; NULL: it has none.  The caller frees. */
char *tree_root_id(int root);
int tree_open_root(const char *root, int *ret, struct error *err);

/* The directory of what is known of the instance's tree.  FS_ABSENT: there is none, and it was not
 * to be made. */
int tree_open(const struct deck *deck, const char *id, bool make, int *ret, struct error *err);

/* Write the files of a new worktree, which has only its index: git runs no filter for what another
 * host has sent. */
int tree_check_out(const struct deck *deck, const struct instance *instance, struct error *err);

/* A tree that may be deleted. */
struct tree_remains {
	const char *id, *name; /* <root>/<id>/<name> */
	const char *path;
	const char *source; /* that knows of it, if it is a linked work tree; else NULL */
	const char *record; /* as in struct gitcmd_linked */
	/* The tree before the verdict; NULL: its content does not matter. */
	const struct tree_stamp *seen;
};
/* Delete the tree, then git's record of it, and then its own.  all: the directory of all trees of
 * the profile.  ERROR_BUSY: a process works in the tree, or it has changed; it is left
 * as it was. */
int tree_erase(int all, const struct tree_place *place, const struct tree_remains *tree,
	       struct error *err);
