/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The git command, for what changes a repository or asks one that its user works in.  What an agent
 * has worked in is looked at by agentdeck-assess, which runs nothing.
 *
 * git asks no questions, and runs neither hooks nor an fsmonitor.  Variables of the caller that
 * would send it elsewhere (GIT_DIR and the like) are left out.
 *
 * Names that begin with git_ are libgit2's, which agentdeck-assess has beside ours.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

struct gitcmd_repository {
	char *top;    /* root of the work tree; NULL: bare */
	char *common; /* its Git directory, which all of its work trees share */
	char *prefix; /* the directory that was asked about, below top: "" or "a/b/" */
	char *head;   /* the commit that is checked out; NULL: none yet */
};
void gitcmd_repository_free(struct gitcmd_repository *repository);
#define cleanup_gitcmd_repository CLEANUP(gitcmd_repository_free)

/* GIT_ABSENT: this directory belongs to no repository; gitcmd_find() only. */
enum { GIT_ABSENT = 1 };

/* The repository of a directory. ERROR_UNAVAILABLE: git is not installed.  ERROR_CHILD: git refuses
 * it, for instance because it belongs to another user. */
int gitcmd_find(const char *directory, struct gitcmd_repository *ret, struct error *err);

/* ERROR_INVALID: git does not accept this name for a branch. */
int gitcmd_check_branch(const char *branch, struct error *err);

/* GIT_NO_BRANCH: the repository has no branch of this name. */
enum { GIT_NO_BRANCH = 1 };
int gitcmd_find_branch(const char *repository, const char *branch, char **ret_commit,
		       struct error *err);

/* The commit that is checked out in a clone that an agent may have worked in: git runs nothing that
 * it says.  ERROR_NOT_FOUND: there is none.  ERROR_INVALID: its Git directory leads elsewhere. */
int gitcmd_head(const char *tree, char **ret, struct error *err);
/* The commit of a branch.  ERROR_NOT_FOUND: the tree has no such branch. */
int gitcmd_head_of(const char *tree, const char *branch, char **ret, struct error *err);

/* What is in progress in such a clone: "a rebase"; static.  NULL: nothing. */
int gitcmd_clone_state(const char *clone, const char **ret, struct error *err);

/* A tree to make. */
struct gitcmd_tree {
	const char *source; /* a work tree, or a bare repository */
	const char *path;   /* does not exist; its parent does */
	const char *branch; /* is made at base; if the source has it already, it is checked out */
	const char *base;   /* commit */
	/* a clone, or git's record of a linked work tree, that is asked for that commit where the
	 * source does not have it; or NULL */
	const char *from;
	bool has_branch;
	bool is_detached; /* a linked work tree at base without a branch */
	/* A linked work tree without files, which only its index has: cargo_check_out() writes
	 * them. */
	bool is_empty;
};

/* A linked work tree, locked so that no `git worktree prune` takes it. */
int gitcmd_add_worktree(const struct gitcmd_tree *tree, struct error *err);

/* A repository that shares no file with its source.  Its remotes are those of the source, and the
 * source as "agentdeck-source". */
int gitcmd_clone(const struct gitcmd_tree *tree, struct error *err);

/* The Git directory of a tree that was made just now: of a linked work tree that is its own record
 * below the common one.  The caller frees. */
int gitcmd_directory(const char *path, char **ret, struct error *err);

/* A linked work tree, whose directory may be gone, and whose record an agent may write. */
struct gitcmd_linked {
	const char *source, *path;
	const char *record; /* git's record of it, as it was when it was made; NULL: not known */
	const char *branch; /* that was checked out in it at first */
};

/* Repair what keeps git from using the record, or leads git elsewhere.  Then git can be asked about
 * the repository.  GIT_ABSENT: there is no record.  *ret (or NULL) is the path of the record, and
 * the caller frees it. */
int gitcmd_mend_record(const struct gitcmd_linked *tree, char **ret, struct error *err);

/* Is the record gone that the tree's file .git names? */
bool gitcmd_record_is_missing(const struct gitcmd_linked *tree);

/* The record is gone, and the tree, whose file .git names it, is there: make it again, with the
 * branch checked out and nothing staged.  No file of the tree changes.  *ret is true if it was
 * made. ERROR_INVALID: the branch is gone, or is checked out elsewhere. */
int gitcmd_restore_record(const struct gitcmd_linked *tree, bool *ret, struct error *err);

/* What the record says. */
struct gitcmd_worktree {
	bool is_known;     /* there is a record; else the others are NULL */
	char *branch;      /* that is checked out; NULL: none (a detached HEAD) */
	char *commit;      /* of a detached HEAD, if the repository still has it */
	const char *state; /* what is in progress: "a rebase"; static; NULL: nothing */
};
void gitcmd_worktree_free(struct gitcmd_worktree *worktree);
#define cleanup_gitcmd_worktree CLEANUP(gitcmd_worktree_free)
int gitcmd_look_at_worktree(const struct gitcmd_linked *tree, struct gitcmd_worktree *ret,
			    struct error *err);

/* Full names of the branches, remote branches and tags that have the commit. */
int gitcmd_find_holders(const char *source, const char *commit, struct strvec *ret,
			struct error *err);

/* The branch that the repository's first work tree has checked out, also one without a commit;
 * NULL: none. */
int gitcmd_current_branch(const char *source, char **ret, struct error *err);

/* What may keep a branch from being deleted. */
struct gitcmd_branch {
	char *tip;             /* its commit; NULL: there is no such branch */
	char *upstream;        /* full name of the ref, or NULL */
	bool is_upstream_gone; /* its remote has deleted it */
	struct strvec holders; /* full names of the other refs that have its commit */
	bool is_used;          /* checked out, or in a rebase or bisection, in some work tree */
	bool is_linked;        /* in a linked work tree */
};
void gitcmd_branch_free(struct gitcmd_branch *branch);
#define cleanup_gitcmd_branch CLEANUP(gitcmd_branch_free)
/* except: path of a work tree that does not count. */
int gitcmd_look_at_branch(const char *source, const char *name, const char *except,
			  struct gitcmd_branch *ret, struct error *err);

/* The names of the branches that begin with this, which ends with a slash. */
int gitcmd_list_branches(const char *source, const char *prefix, struct strvec *ret,
			 struct error *err);

/* Delete a branch that has this commit, and git's settings of it.  An error: it has another one. */
int gitcmd_delete_branch(const char *source, const char *name, const char *tip, struct error *err);

/* How many commits has the branch that this commit does not have? */
int gitcmd_count_commits(const char *repository, const char *base, const char *branch, int64_t *ret,
			 struct error *err);

/* Does the repository have this commit? */
int gitcmd_has_commit(const char *repository, const char *commit, bool *ret, struct error *err);

/* ---- bringing work home: merge.c ---- */

/* *ret: the first line of a setting; NULL: there is none. */
int gitcmd_setting(const char *source, const char *key, char **ret, struct error *err);
int gitcmd_list_remotes(const char *source, struct strvec *ret, struct error *err);
/* Does the other have all of the one? */
int gitcmd_is_ancestor(const char *source, const char *one, const char *other, bool *ret,
		       struct error *err);

/* Fetch what a clone of an agent has checked out, to no branch.  ERROR_INVALID: the clone's Git
 * directory leads elsewhere. */
int gitcmd_fetch_home(const char *source, const char *clone, struct error *err);

struct gitcmd_merge {
	const char *ours, *theirs; /* commits */
	const char *message;
	bool is_squash; /* their content as one commit; else both are its parents */
};
/* Make the commit that has both.  Only objects are written: neither a branch nor a file changes.
 * *ret is theirs if that has all of ours.  GIT_CONFLICT: in these files.  GIT_NOTHING: ours has all
 * of the content.  ERROR_UNAVAILABLE: git is too old. */
enum { GIT_CONFLICT = 1, GIT_NOTHING = 2 };
int gitcmd_make_merge(const char *source, const struct gitcmd_merge *merge, char **ret,
		      struct strvec *ret_conflicts, struct error *err);
/* Move what the work tree has checked out to this commit, which has it.  ERROR_BUSY: files that
 * would be overwritten are changed; nothing was moved. */
int gitcmd_fast_forward(const char *source, const char *commit, struct error *err);
/* Move a branch that no work tree has checked out, if it is still where it was; before: NULL: it is
 * made. */
int gitcmd_move_branch(const char *source, const char *branch, const char *before,
		       const char *commit, struct error *err);

/* Without hooks, and without force.  The branch then has it as its upstream. */
int gitcmd_push(const char *source, const char *remote, const char *branch, struct error *err);
/* Send what Git LFS stores for the branch, as its hook would. */
int gitcmd_push_lfs(const char *source, const char *remote, const char *branch, struct error *err);

/* ---- submodules: submodule.c ---- */

struct gitcmd_link {
	char *path;   /* in the work tree */
	char *name;   /* of its Git directory below "modules"; NULL: .gitmodules has none for it */
	char *commit; /* that it is at */
};
struct gitcmd_links {
	struct gitcmd_link *items;
	size_t count;
};
void gitcmd_links_free(struct gitcmd_links *links);
#define cleanup_gitcmd_links CLEANUP(gitcmd_links_free)

/* The submodules that a commit has at another commit than the one before; NULL: all of it. */
int gitcmd_list_links(const char *repository, const char *before, const char *after,
		      struct gitcmd_links *ret, struct error *err);
/* Fetch a submodule's commit into its Git directory, which is made if it is not there, from another
 * one, that an agent may have worked in; NULL: there is none.  A ref keeps it.  GIT_ABSENT: none of
 * them has it.  ERROR_TIMEOUT: it takes too long; the next call begins it again. */
int gitcmd_fetch_link(const char *store, const char *from, const char *commit, int64_t deadline_ms,
		      struct error *err);

/* The repository was moved: its linked work trees learn where it is.  Those that were not moved
 * themselves do. */
int gitcmd_mend_worktrees(const char *repository, struct error *err);

/* Remove git's record of this work tree, and no other record.  Its directory is gone, or can go. */
int gitcmd_forget_worktree(const struct gitcmd_linked *tree, struct error *err);
