/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/stamp.h"

#include "base/fsutil.h"

#include <fcntl.h>
#include <sys/stat.h>

/* At least the limits of agentdeck-assess. */
enum { DEEPEST = 100, ENTRIES_MOST = 1000000 };

static void add_number(struct tree_stamp *stamp, const struct stat *status, uint64_t number)
{
	/* Odd, so that every bit counts. */
	stamp->sum += (number ^ (uint64_t)status->st_ino << 20) * 0x9e3779b97f4a7c15;
}

static uint64_t moment_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* The kernel's clock has ticks, so the moment of a change alone does not tell. */
static void add(struct tree_stamp *stamp, const struct stat *status)
{
	add_number(stamp, status, moment_of(&status->st_ctim));
	add_number(stamp, status, 3 * moment_of(&status->st_mtim));
	add_number(stamp, status, (uint64_t)status->st_size);
	stamp->count++;
}

static void add_below(struct tree_stamp *stamp, int above, const char *name, dev_t device,
		      int depth)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = fs_openat(above, name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count && stamp->count < ENTRIES_MOST; i++) {
		struct stat status;
		if (fstatat(fd, names.items[i], &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		add(stamp, &status);
		if (S_ISDIR(status.st_mode) && status.st_dev == device && depth < DEEPEST)
			add_below(stamp, fd, names.items[i], device, depth + 1);
	}
}

struct tree_stamp tree_stamp_of(int dirfd, const char *name)
{
	struct tree_stamp stamp = { 0 };
	struct stat status;
	if (fstatat(dirfd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return stamp;
	/* A rename of the tree changes its ctime. */
	add_number(&stamp, &status, moment_of(&status.st_mtim));
	stamp.count++;
	if (S_ISDIR(status.st_mode))
		add_below(&stamp, dirfd, name, status.st_dev, 0);
	return stamp;
}

bool tree_stamp_equal(const struct tree_stamp *a, const struct tree_stamp *b)
{
	return a->sum == b->sum && a->count == b->count;
}
