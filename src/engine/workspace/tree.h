/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A work tree that one session has to itself: a linked work tree or a clone of the repository that
 * its user named.  docs/workspaces.md
 *
 *   <state>/<profile>/trees/<id>/<name>        the tree
 *   <root>/<id>/<name>                         the tree, with [workspace] root
 *   <state>/<profile>/trees/<id>/origin.json   what the repository was when the tree was made
 *
 * A tree is made once, and used as it is from then on: nothing resets, rebases or pulls it.  The
 * manifest has the intent before git is called; what a kill leaves is a tree that is not made, and
 * no agent has worked in that.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/workspace/changes.h"
#include "model/workspace/verdict.h"

/* How the name of a branch begins that its user did not name. */
#define TREE_BRANCHES "agentdeck/"

/* What a user wishes. */
struct tree_order {
	enum workspace_kind kind;
	const char *branch; /* NULL: a new one, named after the session */
	/* A session whose present commit it begins at: where that has a tree to itself, this one is
	 * of the same repository.  NULL: that of the directory */
	const struct instance *like;
	/* The cargo that arrives from another host, and the commit to check out; or NULL */
	const char *arriving, *commit;
};

/* Plan the tree of a new session, which has its id, its title and the directory that its user named:
 * instance->workspace, and the directory in the tree that it works in instead.  Nothing is made.
 * ERROR_INVALID: there is no repository, it has no commit, or the branch has no valid name. */
int tree_plan(const struct deck *deck, const struct tree_order *order, struct instance *instance,
	      struct error *err);

/* Make the instance's tree if it is not made, or is gone; a warning says that it was gone.  The
 * instance is saved.  Does nothing for one that has no tree to itself.  git runs no
 * filter for a tree that arrives from another host. */
int tree_ensure(struct deck *deck, struct store_lock *lock, struct instance *instance,
		struct error *err);

/* The repository of the instance's tree was moved to this directory: mend the tree and its records.
 * The caller saves the instance.  ERROR_INVALID: that is not the same repository, and nothing was
 * changed. */
int tree_move_source(const struct deck *deck, struct instance *instance, const char *directory,
		     struct error *err);

/* Would anything be lost with the instance's tree?  TREE_ABSENT: it has none to itself, or that is
 * gone.  *ret: verdict_free(). */
enum { TREE_ABSENT = 1 };
int tree_judge(const struct deck *deck, const struct instance *instance, struct verdict *ret,
	       struct error *err);

/* What has its agent made in it?  Of a worktree that is gone, on its branch.  ERROR_INVALID: the
 * instance has no tree to itself; ERROR_NOT_FOUND: nothing of it is there.  What cannot be found
 * out is in ret->unknown.  *ret: changes_free(). */
int tree_changes(const struct deck *deck, const struct instance *instance, bool with_diff,
		 int timeout_ms, struct changes *ret, struct error *err);

/* May what is at the tree's path be deleted?  It is in the directory of the profile, or below the
 * root of the configuration, or the record beside the tree's session names it.  ERROR_EXISTS. */
int tree_check_ours(const struct deck *deck, const struct instance *instance, struct error *err);

/* How the owner of the manifest saves it. */
struct tree_saver {
	int (*save)(void *context, struct error *err);
	void *context;
};

/* Delete the instance's tree, and git's record of it.  Its branch stays.  First the saver saves
 * that nothing is lost with it (workspace.is_freed), for a start that makes the tree again after a
 * kill; saver may be NULL where the session goes anyway.  TREE_KEPT: work would be lost and its
 * user has not agreed to that, or a process works in it (users.h); a warning says which. */
enum { TREE_KEPT = 1 };
int tree_delete(struct deck *deck, struct instance *instance, const struct tree_saver *saver,
		struct error *err);
/* After the session is back: the rest of a killed deletion is its tree again.  Returns whether the
 * instance changed; the caller saves it. */
bool tree_reclaim(struct workspace *workspace);

/* Would the tree, of which nothing would be lost, be the same if it was made again: is its branch
 * checked out, and has a clone no other branches, and no other commits on them? */
int tree_is_as_made(const struct deck *deck, const struct instance *instance, bool *ret,
		    struct error *err);
/* Why the instance's tree is not there, with what its branch has, and what to do: for people. NULL:
 * it is there, or the instance has none to itself.  The caller frees. */
char *tree_absence(const struct deck *deck, const struct instance *instance) MUST_USE;
/* What is on the branch of a worktree, by a look at the repository alone.  False: that is a clone,
 * has no such branch, or cannot be asked. */
struct tree_work {
	int64_t commits; /* of its own */
	bool is_merged;  /* the branch that it began on has them */
};
bool tree_look_at_work(const struct workspace *workspace, struct tree_work *ret);
/* "2 commits on agentdeck/api", of its own; NULL: none, or that cannot be known.  The caller frees.
 */
char *tree_work_text(const struct workspace *workspace) MUST_USE;

/* ---- on its way to another host: tree-cargo.c ---- */

/* Write all of the instance's tree as one commit into its repository, and note that as
 * workspace->carried; the caller saves.  ERROR_INVALID: it has something that does not come along,
 * in the words of tree_judge().  *ret_directory: where in the repository the session works; the
 * caller frees. */
int tree_pack(const struct deck *deck, struct instance *instance, char **ret_directory,
	      struct error *err);
/* Make the instance's tree, which is there (tree_ensure()), that commit.  What it had before has to
 * be workspace->carried.  The instance is saved. */
int tree_unpack(struct deck *deck, struct store_lock *lock, struct instance *instance,
		const char *commit, struct error *err);
/* Keep that commit beside the instance's tree, which does not change: as a branch named after that
 * of the tree and the host that it comes from.  *ret: the branch; the caller frees. */
int tree_keep(const struct deck *deck, const struct instance *instance, const char *commit,
	      const char *host, char **ret, struct error *err);
/* The repository that a session arrives in with its tree.  ERROR_NOT_FOUND: the directory is in
 * none.  *ret: the caller frees. */
int tree_find_repository(const char *directory, char **ret, struct error *err);

/* "git -C SOURCE log api", for its user to type.  The caller frees. */
char *tree_git_text(const struct workspace *workspace, const char *verb, const char *what) MUST_USE;

/* Note that the tree was deleted so that it can be made again: the next start does not warn. */
void tree_note_freed(struct workspace *workspace);
