/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fsutil.h"

#include "base/clock.h"
#include "base/libc.h"
#include "base/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/syscall.h>

int fs_openat(int dirfd, const char *name, int flags, mode_t mode)
{
	int fd;
	do
		fd = openat(dirfd, name, flags, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int fs_open_beneath(int dirfd, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

int fs_flush(int fd)
{
	int r;
	do
		r = fsync(fd);
	while (r < 0 && errno == EINTR);
	return r;
}

static int check_mine(const struct stat *st, const char *name, struct error *err)
{
	if (st->st_uid == geteuid())
		return 0;
	return error_set(err, ERROR_SYSTEM, "%s belongs to user %u, not to you: %s", name,
			 st->st_uid,
			 geteuid() == 0
				 ? "run agentdeck as that user, without sudo (for what is in /tmp: "
				   "set TMPDIR)"
				 : "change its owner (chown), or choose another place with "
				   "AGENTDECK_HOME (for what is in /tmp: TMPDIR)");
}

static int check_private(int fd, const char *name, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", name);
	if (check_mine(&st, name, err) < 0)
		return -1;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, ERROR_SYSTEM,
				 "%s can be written by others (mode %04o): run chmod 700 %s", name,
				 st.st_mode & 07777, name);
	return 0;
}

/* Another user may keep it private; else the system's message says why. */
static int not_opened(int dirfd, const char *name, int os_errno, struct error *err)
{
	struct stat st;
	if (os_errno == EACCES && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    check_mine(&st, name, err) < 0)
		return -1;
	return error_set_file(err, os_errno, "open directory %s", name);
}

enum { MAKE_TRIES = 10 };

static int make_private(int dirfd, const char *name, struct error *err)
{
	if (mkdirat(dirfd, name, 0700) == 0) {
		/* The new name must be as durable as what will be written below it. */
		if (dirfd != AT_FDCWD)
			(void)fs_flush(dirfd);
	} else if (errno != EEXIST) {
		return error_set_file(err, errno, "make directory %s", name);
	}
	return 0;
}

int fs_open_private_directory_at(int dirfd, const char *name, bool make, int *ret,
				 struct error *err)
{
	cleanup_close int fd = -1;
	/* Another process may remove an empty one after we found it. */
	for (int tries = 0; fd < 0 && tries < MAKE_TRIES; tries++) {
		if (make && make_private(dirfd, name, err) < 0)
			return -1;
		fd = fs_openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		if (fd < 0 && (errno != ENOENT || !make))
			break;
	}
	if (fd < 0 && errno == ENOENT && !make)
		return FS_ABSENT;
	if (fd < 0)
		return not_opened(dirfd, name, errno, err);
	if (check_private(fd, name, err) < 0)
		return -1;
	*ret = TAKE_FD(fd);
	return 0;
}

/* 0: it exists now.  Else the errno of mkdir(2).  Some file systems say EROFS also of a directory
 * that exists. */
static int make_directory(const char *name)
{
	if (mkdir(name, 0700) == 0 || errno == EEXIST)
		return 0;
	const int os_errno = errno;
	return os_errno == EROFS && access(name, F_OK) == 0 ? 0 : os_errno;
}

int fs_open_private_directory(const char *path, int *ret, struct error *err)
{
	cleanup_free char *name = xstrdup(path);
	/* With a slash at its end, a link is followed in spite of O_NOFOLLOW. */
	for (size_t length = strlen(name); length > 1 && name[length - 1] == '/'; length--)
		name[length - 1] = '\0';
	for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		const int os_errno = make_directory(name);
		if (os_errno)
			return error_set_file(err, os_errno, "make directory %s", name);
		*slash = '/';
	}
	return fs_open_private_directory_at(AT_FDCWD, name, true, ret, err);
}

int fs_follow_own_link(const char *path, char **ret, struct error *err)
{
	char target[PATH_MAX];
	struct stat st, led;
	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode)) {
		*ret = xstrdup(path);
		return 0;
	}
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return error_set_file(err, errno, "read the link %s", path);
	target[length] = '\0';
	cleanup_free char *shown = visible(target);
	if (st.st_uid != geteuid())
		return error_set(
			err, ERROR_SYSTEM,
			"%s is a link to %s that belongs to user %u, not to you: remove it, "
			"or choose another place with AGENTDECK_HOME",
			path, shown, st.st_uid);
	cleanup_free char *parent = xstrndup(path, (size_t)(path_basename(path) - path));
	cleanup_free char *place = *target == '/' ? xstrdup(target) : path_join(parent, target);
	if (lstat(place, &led) < 0)
		return error_set_file(
			err, errno,
			"%s is a link to %s, which does not exist: create it (mkdir -m 700), or "
			"remove the link",
			path, shown);
	if (S_ISLNK(led.st_mode))
		return error_set(err, ERROR_SYSTEM,
				 "%s is a link to %s, which is another link: make it point to the "
				 "directory itself",
				 path, shown);
	char *real = realpath(place, NULL);
	if (!real)
		return error_set_file(err, errno, "resolve %s", place);
	*ret = real;
	return 0;
}

int fs_check_owner(const char *path, struct error *err)
{
	bool is_open = false;
	for (const char *slash = path, *next; slash; slash = next) {
		struct stat st;
		next = strchr(slash + 1, '/');
		cleanup_free char *name = xstrndup(path,
						   next ? (size_t)(next - path) : strlen(path));
		if (lstat(name, &st) < 0)
			return errno == ENOENT || errno == ENOTDIR
				       ? FS_ABSENT
				       : error_set_file(err, errno, "stat %s", name);
		if ((is_open || !next) && st.st_uid != 0 && st.st_uid != geteuid())
			return error_set(err, ERROR_SYSTEM, "%s belongs to user %u, not to you",
					 name, st.st_uid);
		/* A link of ours or root's may be followed. */
		if (S_ISLNK(st.st_mode) && next && stat(name, &st) < 0)
			return errno == ENOENT ? FS_ABSENT
					       : error_set_file(err, errno, "stat %s", name);
		is_open = st.st_mode & (S_IWGRP | S_IWOTH);
	}
	return 0;
}

int fs_check_author(int fd, const char *path, struct error *err)
{
	enum { NOBODY = 65534 };
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", path);
	if (st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == NOBODY)
		return 0;
	return error_set(
		err, ERROR_SYSTEM,
		"%s belongs to user %u, who could use it to run commands as you: replace it with "
		"your own copy",
		path, st.st_uid);
}

enum { READ_ROOM = 4096 };

/* expected: how long it may be; 0: that is not known. */
static int read_all(int fd, const char *what, size_t expected, size_t max, struct strbuf *ret,
		    struct error *err)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	/* Reserve one byte more than the size, so that the next read finds the end. */
	strbuf_reserve(&buf, expected ? expected + 1 : READ_ROOM);
	for (;;) {
		if (buf.length + 1 == buf.size)
			strbuf_reserve(&buf, READ_ROOM);
		ssize_t n = read(fd, buf.data + buf.length, buf.size - 1 - buf.length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_file(err, errno, "read %s", what);
		if (n == 0)
			break;
		if (buf.length + (size_t)n > max)
			return error_set(err, ERROR_CORRUPT, "%s is larger than %zu bytes", what,
					 max);
		buf.length += (size_t)n;
	}
	buf.data[buf.length] = '\0';
	strbuf_free(ret);
	*ret = buf;
	buf = (struct strbuf){ 0 };
	return 0;
}

int fs_read_fd(int fd, const char *what, size_t max, struct strbuf *ret, struct error *err)
{
	return read_all(fd, what, 0, max, ret, err);
}

int fs_read(int dirfd, const char *name, size_t max, struct strbuf *ret, struct error *err)
{
	struct stat st;
	/* O_NONBLOCK: a FIFO put in a file's place must not hang us. */
	cleanup_close int fd = fs_openat(dirfd, name,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0 && errno == ENOENT)
		return FS_ABSENT;
	if (fd < 0)
		return error_set_file(err, errno, "open %s", name);
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_CORRUPT, "%s is not a regular file", name);
	const size_t expected = (size_t)st.st_size < max ? (size_t)st.st_size : max;
	return read_all(fd, name, expected, max, ret, err);
}

int fs_write_all(int fd, const void *data, size_t length, const char *what, struct error *err)
{
	const char *next = data;
	while (length > 0) {
		ssize_t n = write(fd, next, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_file(err, errno, "write %s", what);
		next += n;
		length -= (size_t)n;
	}
	return 0;
}

enum { RANDOM_DIGITS = 16, TEMPORARY_NAME = 48 };

static void temporary_name(const char *prefix, char name[TEMPORARY_NAME])
{
	uint64_t random = 0;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint64_t)clock_wall_us() ^ ((uint64_t)getpid() << 40);
	snprintf(name, TEMPORARY_NAME, "%.31s%016llx", prefix, (unsigned long long)random);
}

int fs_replace_from(int scratch, int dirfd, const char *name, const struct fs_content *content,
		    struct error *err)
{
	char temporary[TEMPORARY_NAME];
	temporary_name(content->prefix ? content->prefix : FS_TEMPORARY_PREFIX, temporary);
	cleanup_close int fd = fs_openat(
		scratch, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_file(err, errno, "create a temporary file for %s", name);
	if (fs_write_all(fd, content->data, content->length, name, err) < 0)
		goto fail;
	/* The group first: the mode's rights must not reach another group. */
	if (content->like && (fchown(fd, (uid_t)-1, content->like->st_gid) < 0 ||
			      fchmod(fd, content->like->st_mode & 07777) < 0)) {
		error_set_file(err, errno, "keep the group and the mode of %s", name);
		goto fail;
	}
	if (content->sync == FS_DURABLE && fs_flush(fd) < 0) {
		error_set_file(err, errno, "sync %s", name);
		goto fail;
	}
	if (renameat(scratch, temporary, dirfd, name) < 0) {
		error_set_file(err, errno, "replace %s", name);
		goto fail;
	}
	if (content->sync == FS_DURABLE && fs_flush(dirfd) < 0)
		return error_set_file(err, errno, "sync the directory of %s", name);
	return 0;
fail:
	(void)unlinkat(scratch, temporary, 0);
	return -1;
}

int fs_replace(int dirfd, const char *name, const void *data, size_t length, enum fs_sync sync,
	       struct error *err)
{
	const struct fs_content content = { .data = data, .length = length, .sync = sync };
	return fs_replace_from(dirfd, dirfd, name, &content, err);
}

int fs_replace_link(int dirfd, const char *name, const char *target, struct error *err)
{
	char temporary[TEMPORARY_NAME];
	temporary_name(FS_TEMPORARY_PREFIX, temporary);
	if (symlinkat(target, dirfd, temporary) < 0)
		return error_set_file(err, errno, "create link %s", name);
	if (renameat(dirfd, temporary, dirfd, name) < 0) {
		error_set_file(err, errno, "replace link %s", name);
		(void)unlinkat(dirfd, temporary, 0);
		return -1;
	}
	return 0;
}

void fs_sweep_temporaries(int dirfd)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(dirfd, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (starts_with(names.items[i], FS_TEMPORARY_PREFIX))
			(void)unlinkat(dirfd, names.items[i], 0);
}

void fs_sweep_prefix(int dirfd, const char *prefix)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(dirfd, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i], *digits = name + strlen(prefix);
		if (starts_with(name, prefix) && strlen(digits) == RANDOM_DIGITS &&
		    strspn(digits, "0123456789abcdef") == RANDOM_DIGITS)
			(void)unlinkat(dirfd, name, 0);
	}
}

int fs_rename_new(int dirfd, const char *from, const char *name)
{
	/* Not every file system knows RENAME_NOREPLACE (NFS), or links (FAT). */
	if (linkat(dirfd, from, dirfd, name, 0) == 0) {
		(void)unlinkat(dirfd, from, 0);
		return 0;
	}
	return errno == EPERM || errno == EOPNOTSUPP
		       ? renameat2(dirfd, from, dirfd, name, RENAME_NOREPLACE)
		       : -1;
}

int fs_open_scratch(const char *directory, int *ret, struct error *err)
{
	const char *const places[] = { directory, "/var/tmp", "/tmp" };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const int fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0) {
			*ret = fd;
			return 0;
		}
	}
	return error_set_file(err, errno, "make a file in %s", directory);
}

int fs_open_new(int dirfd, const char *temporary, bool *ret_has_name)
{
	int fd = openat(dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	const bool has_name = fd < 0;
	if (has_name)
		fd = fs_openat(dirfd, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0600);
	if (fd >= 0)
		*ret_has_name = has_name;
	return fd;
}

int fs_name_new(int dirfd, int fd, const char *temporary, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return temporary ? fs_rename_new(dirfd, temporary, name)
			 : linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW);
}

int fs_remove(int dirfd, const char *name, struct error *err)
{
	if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s", name);
	if (fs_flush(dirfd) < 0)
		return error_set_file(err, errno, "sync the directory of %s", name);
	return 0;
}

/* Open a directory to empty it.  Its owner may have taken the right to write away from himself, as
 * Go does in its cache of modules. */
static int open_to_empty(int dirfd, const char *name, struct error *err)
{
	enum { RIGHTS = S_IRUSR | S_IWUSR | S_IXUSR };
	struct stat st;
	char path[32];
	cleanup_close int fd = fs_openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
					 0);
	if (fd < 0)
		return error_set_file(err, errno, "open directory %s", name);
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", name);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Where this is not possible, the next steps say why. */
	if ((st.st_mode & RIGHTS) != RIGHTS)
		(void)chmod(path, (st.st_mode & 07777) | RIGHTS);
	int ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ret < 0 ? error_set_file(err, errno, "open directory %s", name) : ret;
}

/* Something is mounted there, perhaps of the same file system (a bind mount), which stat(2) does
 * not show.  Kernels before 5.8 do not say so. */
static bool fs_is_mount_point(int dirfd, const char *name)
{
	struct statx status;
	return statx(dirfd, name, AT_SYMLINK_NOFOLLOW, 0, &status) == 0 &&
	       (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A tree that is removed. */
struct removal {
	dev_t device;
	int top;
	unsigned lifted; /* directories, by lift() */
};

/* Move a directory to the top: a tree of any depth takes few descriptors, and little stack. */
static int lift(int dirfd, const char *name, struct removal *removal, struct error *err)
{
	char lifted[32];
	/* The rename writes a new ".." into the directory. */
	cleanup_close int fd = open_to_empty(dirfd, name, err);
	if (fd < 0)
		return -1;
	do
		(void)snprintf(lifted, sizeof(lifted), ".lifted-%u", removal->lifted++);
	while (faccessat(removal->top, lifted, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(dirfd, name, removal->top, lifted) < 0
		       ? error_set_file(err, errno, "move %s", name)
		       : 0;
}

static int remove_content(int dirfd, unsigned depth, struct removal *removal, struct error *err)
{
	enum { DEEPEST = 100 };
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(dirfd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		struct stat st;
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return error_set_file(err, errno, "stat %s", name);
		}
		/* Directories only: on overlayfs a file's device is another (a mounted file
		 * cannot be unlinked anyway). */
		if (S_ISDIR(st.st_mode) &&
		    (st.st_dev != removal->device || fs_is_mount_point(dirfd, name)))
			return error_set(err, ERROR_SYSTEM, "%s is a mount point: unmount it first",
					 name);
		if (S_ISDIR(st.st_mode) && depth == DEEPEST) {
			if (lift(dirfd, name, removal, err) < 0)
				return -1;
			continue;
		}
		if (S_ISDIR(st.st_mode)) {
			cleanup_close int fd = open_to_empty(dirfd, name, err);
			if (fd < 0 || remove_content(fd, depth + 1, removal, err) < 0)
				return -1;
		}
		if (unlinkat(dirfd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0 &&
		    errno != ENOENT)
			return error_set_file(err, errno, "remove %s", name);
	}
	return 0;
}

int fs_remove_tree(int dirfd, const char *name, struct error *err)
{
	struct stat st;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_set_file(err, errno, "stat %s", name);
	cleanup_close int fd = open_to_empty(dirfd, name, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", name);
	struct removal removal = { .device = st.st_dev, .top = fd };
	unsigned lifted;
	do {
		lifted = removal.lifted;
		if (remove_content(fd, 0, &removal, err) < 0)
			return error_prefix(err, "remove %s", name);
	} while (removal.lifted > lifted);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove directory %s", name);
	if (dirfd != AT_FDCWD)
		(void)fs_flush(dirfd);
	return 0;
}

/* Whether the open lock file still has this name. */
static bool still_named(int dirfd, const char *name, int fd)
{
	struct stat opened, named;
	return fstat(fd, &opened) == 0 && fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static int open_lock(int dirfd, const char *name, struct error *err)
{
	int fd = fs_openat(dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? error_set_file(err, errno, "open lock %s", name) : fd;
}

/* Waiting until another process gives a lock back, for which F_OFD_SETLKW has no deadline.
 * closes: a watch on the lock file. */
struct lock_wait {
	int64_t deadline_ms, watched_from_ms;
	int closes, pause_ms;
};

static void lock_wait_end(struct lock_wait *wait)
{
	if (wait->closes >= 0)
		(void)close(wait->closes);
}
#define cleanup_lock_wait CLEANUP(lock_wait_end)
#define LOCK_WAIT(ms)     ((struct lock_wait){ .deadline_ms = (ms), .closes = -1 })

enum {
	UNWATCHED_MS = 200,
	MOST_FIRST_PAUSE_MS = 4,
	MOST_PAUSE_MS = 20,
	MOST_WATCHED_PAUSE_MS = 1000
};

/* Wait until the process that holds a lock of this file may have closed it. False: the time is
 * over. The kernel reports the close a moment before it releases the lock, and does not report
 * other ways to release it: hence the pauses, which double. At first there are only pauses: closing
 * a watch takes longer than most locks are held (base/watch.h), and then the lock is held here. */
static bool wait_for_lock(struct lock_wait *wait, int fd)
{
	const int64_t now_ms = clock_ms();
	if (clock_left_ms(wait->deadline_ms) == 0)
		return false;
	if (!wait->pause_ms) {
		wait->pause_ms = 1;
		wait->watched_from_ms = now_ms + UNWATCHED_MS;
	}
	const bool is_first = now_ms < wait->watched_from_ms;
	if (!is_first && wait->closes < 0) {
		char path[32];
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		wait->closes = watch_open(path, IN_CLOSE_WRITE);
	}
	const int most_ms = is_first            ? MOST_FIRST_PAUSE_MS
			    : wait->closes >= 0 ? MOST_WATCHED_PAUSE_MS
						: MOST_PAUSE_MS;
	int64_t next_ms = now_ms + wait->pause_ms;
	if (next_ms > wait->deadline_ms)
		next_ms = wait->deadline_ms;
	if (watch_wait(wait->closes, next_ms))
		wait->pause_ms = 1;
	else if (wait->pause_ms < most_ms)
		wait->pause_ms *= 2;
	return true;
}

/* Lock these bytes (length 0: all from start).  FS_LOCK_BUSY. */
static int lock_range(int fd, const char *name, off_t start, off_t length, struct error *err)
{
	struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length
	};
	int r;
	do
		r = fcntl(fd, F_OFD_SETLK, &range);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? FS_LOCK_BUSY
						  : error_set_file(err, errno, "lock %s", name);
}

int fs_lock(int dirfd, const char *name, int64_t deadline_ms, struct fs_lock *ret,
	    struct error *err)
{
	for (;;) {
		cleanup_lock_wait struct lock_wait wait = LOCK_WAIT(deadline_ms);
		cleanup_close int fd = open_lock(dirfd, name, err);
		int r = fd < 0 ? fd : lock_range(fd, name, 0, 0, err);
		/* The file stays open: to close it would wake the others that wait. */
		while (r == FS_LOCK_BUSY && still_named(dirfd, name, fd) &&
		       wait_for_lock(&wait, fd))
			r = lock_range(fd, name, 0, 0, err);
		if (r < 0)
			return r;
		if (still_named(dirfd, name, fd)) {
			if (r == 0)
				ret->fd = TAKE_FD(fd);
			return r;
		}
	}
}

/* The first byte after all bytes that others have locked between start and end (0: the file's end).
 * Returns start if none is locked. */
static int behind_locks(int fd, const char *name, off_t start, off_t end, off_t *ret,
			struct error *err)
{
	*ret = start;
	while (!end || *ret < end) {
		struct flock range = { .l_type = F_WRLCK,
				       .l_whence = SEEK_SET,
				       .l_start = *ret,
				       .l_len = end ? end - *ret : 0 };
		if (fcntl(fd, F_OFD_GETLK, &range) < 0)
			return error_set_file(err, errno, "look at the lock %s", name);
		if (range.l_type == F_UNLCK)
			break;
		if (!range.l_len)
			return FS_LOCK_BUSY;
		*ret = range.l_start + range.l_len;
	}
	return 0;
}

bool fs_lock_is_held(int dirfd, const char *name)
{
	off_t behind = 0;
	cleanup_close int fd = fs_openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
	const int r = fd < 0 ? -1 : behind_locks(fd, name, 0, 0, &behind, NULL);
	return r == FS_LOCK_BUSY || (r == 0 && behind);
}

/* A process holds byte 0 while it draws a ticket. A ticket is the byte behind all others, held
 * until the file is closed. Locks end with their process, so a killed process delays no other. */
static int draw_ticket(int fd, const char *name, int64_t deadline_ms, off_t *ret, struct error *err)
{
	cleanup_lock_wait struct lock_wait wait = LOCK_WAIT(deadline_ms);
	int r;
	while ((r = lock_range(fd, name, 0, 1, err)) == FS_LOCK_BUSY)
		if (!wait_for_lock(&wait, fd))
			return FS_LOCK_BUSY;
	if (r == 0)
		r = behind_locks(fd, name, 1, 0, ret, err);
	if (r == 0)
		r = lock_range(fd, name, *ret, 1, err);
	struct flock drawn = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1 };
	if (r == 0 && fcntl(fd, F_OFD_SETLK, &drawn) < 0)
		return error_set_file(err, errno, "unlock %s", name);
	return r;
}

int fs_lock_in_turn(int dirfd, const char *name, int64_t deadline_ms, struct fs_lock *ret,
		    struct error *err)
{
	cleanup_lock_wait struct lock_wait wait = LOCK_WAIT(deadline_ms);
	off_t ticket = 0, behind = 0;
	cleanup_close int fd = open_lock(dirfd, name, err);
	int r = fd < 0 ? fd : draw_ticket(fd, name, deadline_ms, &ticket, err);
	while (r == 0) {
		r = behind_locks(fd, name, 1, ticket, &behind, err);
		if (r != 0 || behind == 1)
			break;
		if (!wait_for_lock(&wait, fd))
			return FS_LOCK_BUSY;
	}
	if (r == 0)
		ret->fd = TAKE_FD(fd);
	return r;
}

void fs_unlock(struct fs_lock *lock)
{
	if (lock->fd >= 0)
		(void)close(lock->fd);
	lock->fd = -1;
}

int fs_list(int dirfd, struct strvec *ret, struct error *err)
{
	return fs_list_some(dirfd, NULL, ret, err);
}

int fs_list_some(int dirfd, bool (*is_wanted)(const char *name), struct strvec *ret,
		 struct error *err)
{
	struct strvec names = { 0 };
	int fd = fs_openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		int saved = errno;
		if (fd >= 0)
			(void)close(fd);
		return error_set_file(err, saved, "list a directory");
	}
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry)
			break;
		if (!streq(entry->d_name, ".") && !streq(entry->d_name, "..") &&
		    (!is_wanted || is_wanted(entry->d_name)))
			strvec_push(&names, entry->d_name);
	}
	int saved = errno;
	(void)closedir(dir);
	if (saved) {
		strvec_clear(&names);
		return error_set_file(err, saved, "list a directory");
	}
	strvec_clear(ret);
	*ret = names;
	return 0;
}

int fs_real_directory(const char *path, char **ret, struct error *err)
{
	struct stat st;
	cleanup_free char *real = realpath(path, NULL);
	if (!real && (errno == ENOENT || errno == ENOTDIR))
		return FS_ABSENT;
	if (!real)
		return error_set_file(err, errno, "resolve %s", path);
	if (stat(real, &st) < 0)
		return error_set_file(err, errno, "stat %s", real);
	if (!S_ISDIR(st.st_mode))
		return FS_ABSENT;
	*ret = TAKE_PTR(real);
	return 0;
}

char *path_join(const char *directory, const char *name)
{
	return xasprintf("%s%s%s", directory, ends_with(directory, "/") ? "" : "/", name);
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *path_find_link(const char *path)
{
	for (const char *end = path; *end;) {
		struct stat st;
		end += strspn(end, "/");
		end += strcspn(end, "/");
		cleanup_free char *part = xstrndup(path, (size_t)(end - path));
		if (lstat(part, &st) < 0)
			return NULL;
		if (S_ISLNK(st.st_mode))
			return TAKE_PTR(part);
	}
	return NULL;
}

bool path_is_below(const char *path, const char *directory)
{
	const size_t length = strlen(directory);
	return starts_with(path, directory) &&
	       (!path[length] || path[length] == '/' || ends_with(directory, "/"));
}
