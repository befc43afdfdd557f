/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share: running git.
 *
 *   git.c      repositories and trees
 *   branch.c   deleting a branch
 *   merge.c    bringing work home
 *   submodule.c  that of submodules
 *   linked.c   git's record of a linked work tree
 *   confined.c a repository that an agent has worked in
 *   snapshot.c, snapshot-files.c  one commit of a repository of others (snapshot.h)
 */
#pragma once

#include "base/child.h"

/* Why `git worktree prune` leaves the record. */
#define GITCMD_LOCKED "in use by agentdeck"

enum { GITCMD_ASK_MS = 30 * 1000 };

/* Ours, without the variables that would send git elsewhere. */
void gitcmd_environment(struct strvec *ret);
int gitcmd_refuse_missing(struct error *err);
/* words: NULL-terminated.  Any exit status is fine here. */
int gitcmd_run(const char *directory, const char *const *words, int timeout_ms,
	       struct child_result *ret, struct error *err);
/* Like gitcmd_run(); any exit status but 0 is an error.  ret: or NULL. */
int gitcmd_must_run(const char *directory, const char *const *words, int timeout_ms,
		    struct child_result *ret, struct error *err);
/* Call take for each line.  A path with a newline in it is refused where it matters. */
void gitcmd_each_line(const struct strbuf *output, void (*take)(const char *line, void *context),
		      void *context);

/* The directory of the records of linked work trees: <common>/worktrees.  The caller frees. */
int gitcmd_records(const char *source, char **ret, struct error *err);
struct gitcmd_worktree;
/* Ask git about a record that linked.c does not find: it names its work tree by a relative path. */
int gitcmd_ask_about_worktree(const char *source, const char *path, struct gitcmd_worktree *ret,
			      struct error *err);
int gitcmd_remove_worktree(const char *source, const char *path, struct error *err);
/* What is in progress by a Git directory: "a rebase"; static.  NULL: nothing. */
const char *gitcmd_state_in(int directory);
/* Does the Git directory of this work tree lead nowhere else?  ERROR_INVALID. */
int gitcmd_check_confined(const char *tree, struct error *err);

/* ---- snapshot.c ---- */

/* What git is asked about the repository that keeps the commits. */
struct snapshot_call {
	const char *const *words;   /* NULL-terminated */
	const struct strbuf *input; /* NULL: none */
	size_t max_output;          /* of struct child_request */
};
/* Any exit status is fine here. */
int snapshot_ask(const char *repository, const struct snapshot_call *call, struct child_result *ret,
		 struct error *err);
