/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files: bounded reads, atomic and durable replacement, locks, walks below a directory descriptor.
 *
 * With a directory descriptor, everything is opened below it with O_NOFOLLOW|O_CLOEXEC, so that a
 * symbolic link that another user put there is never followed.  With a path, links above its last
 * name are followed.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { FS_ABSENT = 1 };

/* Make path (absolute) and its missing parents with mode 0700, open it, and check that it is a
 * directory of ours that no other user can write; ERROR_SYSTEM with the remedy if not.  *ret, the
 * caller's, can be synced (it is not an O_PATH descriptor). */
int fs_open_private_directory(const char *path, int *ret, struct error *err);

/* Like fs_open_private_directory(), but for one name below dirfd.  A missing directory is made, or,
 * when make is false, FS_ABSENT. */
int fs_open_private_directory_at(int dirfd, const char *name, bool make, int *ret,
				 struct error *err);

/* Resolve the last name of path if it is a symbolic link that we own.  Only one link is followed,
 * and the caller checks the result as any other path.  *ret, the caller's, is path itself
 * when path does not exist or is not a link.  ERROR_SYSTEM: the link belongs to another user, or
 * leads to nothing or to another link; the message says which. */
int fs_follow_own_link(const char *path, char **ret, struct error *err);

/* Check that no other user can have put something into path (absolute).  Each name in a directory
 * that others can write (/tmp), and the last name in any case, must be ours or root's: others
 * cannot reach what is below it.  FS_ABSENT: it does not exist.  ERROR_SYSTEM: the message says
 * whose it is. */
int fs_check_owner(const char *path, struct error *err);

/* Check that this open file belongs to us or to root.  For files that name programs to run.  Inside
 * a user namespace root's files belong to "nobody" (uid 65534): that is accepted.  ERROR_SYSTEM:
 * the message says whose it is. */
int fs_check_author(int fd, const char *path, struct error *err);

/* Read a regular file below dirfd (or AT_FDCWD with an absolute path) whole, NUL-terminated.
 * FS_ABSENT: there is no such file.  More than max bytes: ERROR_CORRUPT.  *ret is the caller's. */
int fs_read(int dirfd, const char *name, size_t max, struct strbuf *ret, struct error *err);

/* Like fs_read(), but from an open descriptor, up to its end.  A pipe is fine. */
int fs_read_fd(int fd, const char *what, size_t max, struct strbuf *ret, struct error *err);

/* openat(2) and fsync(2) that continue after a signal: on file systems over a network it can
 * interrupt them. */
int fs_openat(int dirfd, const char *name, int flags, mode_t mode);
int fs_flush(int fd);

/* Open path (relative) below dirfd without following any link on the way, and without leaving
 * dirfd: for directories that another user may write.  -1 with errno: ELOOP, EXDEV for a path that
 * would. */
int fs_open_beneath(int dirfd, const char *path, int flags);

/* Write all of data, retrying short writes and EINTR. */
int fs_write_all(int fd, const void *data, size_t length, const char *what, struct error *err);

enum fs_sync { FS_VOLATILE, FS_DURABLE };

/* Replace (or create) name below dirfd with mode 0600: temporary file, write, fsync, rename, fsync
 * of the directory.  FS_VOLATILE leaves out the two fsyncs, for data that may be lost with the
 * machine. A reader sees the old or the new content, never a part.  A crash may leave a file whose
 * name starts with ".tmp-"; fs_sweep_temporaries() removes such files. */
int fs_replace(int dirfd, const char *name, const void *data, size_t length, enum fs_sync sync,
	       struct error *err);

/* Like fs_replace(), but with the temporary file in the directory scratch on the same file system.
 * For a dirfd with several writers and no common lock: scratch is a directory whose sweeper holds a
 * lock.  The temporary file's name is the prefix and 16 hexadecimal digits. */
struct fs_content {
	const void *data;
	size_t length;
	enum fs_sync sync;
	const char *prefix; /* at most 31 bytes; NULL: FS_TEMPORARY_PREFIX */
	/* the new file gets the mode and the group of this one; NULL: mode 0600 */
	const struct stat *like;
};
int fs_replace_from(int scratch, int dirfd, const char *name, const struct fs_content *content,
		    struct error *err);

#define FS_TEMPORARY_PREFIX ".tmp-"
/* Unlink ".tmp-*" below dirfd.  Only while you hold the lock that covers the directory's
 * writers. */
void fs_sweep_temporaries(int dirfd);
/* Like fs_sweep_temporaries(), but in a directory where others keep files, too: only names that are
 * this prefix and 16 hexadecimal digits. */
void fs_sweep_prefix(int dirfd, const char *prefix);

/* Make name below dirfd a symbolic link to target atomically (temporary link + rename). */
int fs_replace_link(int dirfd, const char *name, const char *target, struct error *err);

/* Open a file without a name in this directory, else in /var/tmp or /tmp, to read and write. */
int fs_open_scratch(const char *directory, int *ret, struct error *err);

/* Open a new file of the directory, to read and write, with mode 0600.  It has no name yet, so that
 * a kill leaves nothing; where the file system cannot do that it has the name temporary.  -1 with
 * errno. */
int fs_open_new(int dirfd, const char *temporary, bool *ret_has_name);
/* Give the new file its name; temporary: the name that it has, or NULL.  -1 with errno: EEXIST, the
 * name is taken. */
int fs_name_new(int dirfd, int fd, const char *temporary, const char *name);

/* Rename a file below dirfd to a name that no file has, also where there are no hard links (FAT).
 * -1 with errno: EEXIST, the name is taken. */
int fs_rename_new(int dirfd, const char *from, const char *name);

/* Unlink name if it exists, and sync the directory. */
int fs_remove(int dirfd, const char *name, struct error *err);

/* Remove the directory name below dirfd with its contents, without following links or leaving the
 * file system.  It does not exist: 0. */
int fs_remove_tree(int dirfd, const char *name, struct error *err);

/* An exclusive open-file-description lock (fcntl(2), F_OFD_SETLK) on a lock file.  Holding the
 * object is the proof of holding the lock; it ends with fs_unlock() or with the process. */
struct fs_lock {
	int fd;
};

enum { FS_LOCK_BUSY = 1 };

/* Take the lock file name below dirfd, waiting until deadline_ms of clock_ms() (0: do not wait).
 * Releasing the lock wakes the processes that wait. FS_LOCK_BUSY: another process has it. If the
 * lock file was replaced while we waited, we lock the new one. */
int fs_lock(int dirfd, const char *name, int64_t deadline_ms, struct fs_lock *ret,
	    struct error *err);
/* Like fs_lock(), but in the order of the requests.  All users of a name must take it this way. */
int fs_lock_in_turn(int dirfd, const char *name, int64_t deadline_ms, struct fs_lock *ret,
		    struct error *err);
/* Does a process have this lock?  Asking takes none, so it refuses no other process. */
bool fs_lock_is_held(int dirfd, const char *name);
void fs_unlock(struct fs_lock *lock);
#define cleanup_fs_lock CLEANUP(fs_unlock)
#define FS_UNLOCKED     ((struct fs_lock){ .fd = -1 })

/* Names below dirfd without "." and "..", unsorted. */
int fs_list(int dirfd, struct strvec *ret, struct error *err);
/* Only those that are wanted. */
int fs_list_some(int dirfd, bool (*is_wanted)(const char *name), struct strvec *ret,
		 struct error *err);

/* realpath(3) of an existing directory.  FS_ABSENT when it does not exist or is not a directory. */
int fs_real_directory(const char *path, char **ret, struct error *err);

/* "<directory>/<name>", one slash between.  The caller frees. */
char *path_join(const char *directory, const char *name) MUST_USE;
/* Is path the directory, or below it?  Both absolute, without "..". */
bool path_is_below(const char *path, const char *directory);
/* The first part of path (absolute) that is a symbolic link, as a path; NULL: none is, or it does
 * not exist.  The caller frees. */
char *path_find_link(const char *path) MUST_USE;
/* Part after the last slash.  Borrowed. */
const char *path_basename(const char *path);
