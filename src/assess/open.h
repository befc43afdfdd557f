/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a path to an open repository that is the one at this path.  A linked worktree, core.worktree
 * and a link in the place of ".git" can all lead elsewhere.
 */
#pragma once

#include "assess/look.h"

/* The git directory that all worktrees of the source share, for origin->source: a work tree, a
 * linked worktree or a bare repository.  The caller frees.  ERROR_INVALID: there is none. */
int open_common_of(const char *source, char **ret, struct error *err);

/* The directory on this machine that a remote's address names, as git reads it: NULL if it names
 * another machine, or a program.  It need not exist.  The caller frees. */
char *open_path_of(const char *tree, const char *address);

/* Is path the directory, or below it?  Both are absolute, and have no links. */
bool open_is_below(const char *path, const char *directory);

/* Find the git directory of repository->path, and what becomes of it: fills git_directory, common,
 * is_linked and fate.  False: the finding says why. */
bool open_locate(struct repository *repository);

/* After walk_git_directories(): open it, with our settings above its own, and check that libgit2
 * sees the same directories.  False: the finding says why. */
bool open_repository(struct repository *repository);

/* Opens another repository by its git directory, to read its refs. */
int open_other(const char *common, git_repository **ret);

/* Our own git configuration in memory.  Before sandbox_close_files().  The caller closes. */
int open_settings(int *ret, struct error *err);

void open_end(struct repository *repository);
#define cleanup_repository CLEANUP(open_end)

static inline void open_close_function(git_repository **git)
{
	git_repository_free(*git);
}
#define cleanup_git CLEANUP(open_close_function)
