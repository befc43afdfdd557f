/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A repository that an agent has worked in is read by git outside (ls-remote, fetch), which would
 * give the next agent what a link or a file there leads to: any repository of the user's.
 */
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { DEEPEST = 100 };

/* The files that git reads for that, below the Git directory. */
static const char *const parts[] = { "HEAD", "packed-refs", "refs", "objects", "reftable" };
static const char *const leading[] = { "commondir", "objects/info/alternates",
				       "objects/info/http-alternates" };

/* *ret is the path that leads elsewhere, or cannot be inspected.  The caller frees it. */
static bool is_confined(int above, const char *name, unsigned depth, char **ret)
{
	struct stat st;
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = -1;
	fd = fs_openat(above, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
	/* The agent may have removed the file just now, as git does with its locks. */
	if (fd < 0 && errno == ENOENT)
		return true;
	bool confined = fd >= 0 && fstat(fd, &st) == 0 && depth < DEEPEST &&
			(S_ISREG(st.st_mode) ||
			 (S_ISDIR(st.st_mode) && fs_list(fd, &names, NULL) == 0));
	for (size_t i = 0; confined && i < names.count; i++)
		if (!is_confined(fd, names.items[i], depth + 1, ret))
			return false;
	if (!confined)
		*ret = xstrdup(name);
	return confined;
}

static int refuse(const char *tree, const char *name, struct error *err)
{
	cleanup_free char *where = visible(tree), *what = visible(name);
	return error_set(err, ERROR_INVALID,
			 "the Git directory of %s leads elsewhere (%s), so git outside would read "
			 "other files of yours: remove that, or do without that tree",
			 where, what);
}

/* The Git directory of a bare repository is the repository. */
static int open_git_directory(const char *tree)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	cleanup_free char *path = path_join(tree, ".git"), *head = path_join(tree, "HEAD");
	const int fd = fs_openat(AT_FDCWD, path, flags, 0);
	return fd < 0 && errno == ENOENT && access(head, F_OK) == 0
		       ? fs_openat(AT_FDCWD, tree, flags, 0)
		       : fd;
}

const char *gitcmd_state_in(int directory)
{
	static const struct {
		const char *file, *name;
	} states[] = {
		{ "rebase-merge", "a rebase" },
		{ "rebase-apply/applying", "git am" },
		{ "rebase-apply", "a rebase" },
		{ "MERGE_HEAD", "a merge" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick" },
		{ "REVERT_HEAD", "a revert" },
		{ "sequencer", "several cherry-picks or reverts" },
		{ "BISECT_START", "a bisection" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (faccessat(directory, states[i].file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return states[i].name;
	return NULL;
}

int gitcmd_clone_state(const char *clone, const char **ret, struct error *err)
{
	cleanup_close int fd = -1;
	if (gitcmd_check_confined(clone, err) < 0)
		return -1;
	fd = open_git_directory(clone);
	if (fd < 0)
		return error_set_file(err, errno, "open the Git directory of %s", clone);
	*ret = gitcmd_state_in(fd);
	return 0;
}

int gitcmd_check_confined(const char *tree, struct error *err)
{
	cleanup_free char *name = NULL;
	cleanup_close int fd = open_git_directory(tree);
	if (fd < 0)
		return errno == ENOENT
			       ? error_set(err, ERROR_NOT_FOUND, "%s has no Git directory", tree)
			       : refuse(tree, ".git", err);
	/* Git takes the directory itself for a bare repository where its .git is none. */
	cleanup_free char *inner = path_join(tree, ".git"), *head = path_join(tree, "HEAD");
	if (faccessat(AT_FDCWD, inner, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	    faccessat(AT_FDCWD, head, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return refuse(tree, "HEAD", err);
	for (size_t i = 0; i < ARRAY_SIZE(leading); i++)
		if (faccessat(fd, leading[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return refuse(tree, leading[i], err);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!is_confined(fd, parts[i], 0, &name))
			return refuse(tree, name, err);
	return 0;
}
