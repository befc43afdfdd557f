/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files: read bounded, replace atomically and durably, lock, walk below a directory descriptor.
 *
 * Everything is opened below a directory descriptor with O_NOFOLLOW|O_CLOEXEC, so that a symbolic
 * link put there by somebody else is refused and never followed.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { FS_ABSENT = 1 };

/* Make path (absolute) and its missing parents with mode 0700, open it, and check that it is a
 * directory of ours that nobody else can write: otherwise ERROR_REFUSED-like ERROR_SYSTEM with the
 * remedy.  *ret is a descriptor of the caller's (O_DIRECTORY|O_PATH is not used: it can be synced). */
int fs_open_private_directory(const char *path, int *ret, struct error *err);

/* The same for one name below dirfd; made when make is true, else FS_ABSENT when missing. */
int fs_open_private_directory_at(int dirfd, const char *name, bool make, int *ret,
				 struct error *err);

/* Is path (absolute) free of what another user could have put there?  A name in a directory that others can
 * write (/tmp) has to be ours or root's, and so has the last one wherever it stands: what is below the first
 * such is then out of their reach.  FS_ABSENT: it is not there.  ERROR_SYSTEM: whose it is. */
int fs_check_owner(const char *path, struct error *err);

/* Is this open file what its user or root wrote?  For files that name programs to run.  One that belongs to "nobody"
 * is root's, seen from inside a user namespace.  ERROR_SYSTEM: whose it is. */
int fs_check_author(int fd, const char *path, struct error *err);

/* Read a regular file below dirfd (or AT_FDCWD with an absolute path) whole, NUL-terminated.
 * FS_ABSENT: there is no such file.  More than max bytes: ERROR_CORRUPT.  *ret is the caller's. */
int fs_read(int dirfd, const char *name, size_t max, struct strbuf *ret, struct error *err);

/* The same from an open descriptor up to its end (a pipe too). */
int fs_read_fd(int fd, const char *what, size_t max, struct strbuf *ret, struct error *err);

/* openat(2) and fsync(2) that a signal does not end: on file systems that answer over a network it can. */
int fs_openat(int dirfd, const char *name, int flags, mode_t mode);
int fs_flush(int fd);

/* Write all of data, retrying short writes and EINTR. */
int fs_write_all(int fd, const void *data, size_t length, const char *what, struct error *err);

enum fs_sync { FS_VOLATILE, FS_DURABLE };

/* Replace (or create) name below dirfd with mode 0600: temporary, write, fsync, rename, fsync of the
 * directory; with FS_VOLATILE without the two fsyncs, for what may be lost with the machine.
 * A reader sees the old or the new content, never a part.  A crash may leave a file whose name
 * starts with ".tmp-"; fs_sweep_temporaries() removes such. */
int fs_replace(int dirfd, const char *name, const void *data, size_t length, enum fs_sync sync,
	       struct error *err);

/* The same with the temporary in the directory scratch, of the same file system: where several write to dirfd and no
 * lock covers them all, it is one whose sweeper holds a lock. */
int fs_replace_from(int scratch, int dirfd, const char *name, const void *data, size_t length,
		    enum fs_sync sync, struct error *err);

/* Unlink ".tmp-*" below dirfd.  Only while the lock that covers the directory's writers is held. */
void fs_sweep_temporaries(int dirfd);

/* Make path a symbolic link to target atomically (temporary link + rename). */
int fs_replace_link(int dirfd, const char *name, const char *target, struct error *err);

/* Unlink name if it is there, and sync the directory. */
int fs_remove(int dirfd, const char *name, struct error *err);

/* Remove the directory name below dirfd with all that is in it, without following links or leaving
 * the file system.  Nothing there: 0. */
int fs_remove_tree(int dirfd, const char *name, struct error *err);

/* An exclusive open-file-description lock (fcntl(2), F_OFD_SETLK) on a lock file.  Holding the
 * object is the proof of holding the lock; it ends with fs_unlock() or with the process. */
struct fs_lock {
	int fd;
};

enum { FS_LOCK_BUSY = 1 };

/* Take the lock file name below dirfd, waiting until deadline_ms of clock_ms() (0: do not wait).
 * FS_LOCK_BUSY: somebody else has it.  A lock file that was unlinked while we waited is not
 * mistaken for the one that now bears the name. */
int fs_lock(int dirfd, const char *name, int64_t deadline_ms, struct fs_lock *ret,
	    struct error *err);
void fs_unlock(struct fs_lock *lock);
#define cleanup_fs_lock CLEANUP(fs_unlock)
#define FS_UNLOCKED ((struct fs_lock){ .fd = -1 })

/* Names below dirfd without "." and "..", unsorted. */
int fs_list(int dirfd, struct strvec *ret, struct error *err);

/* realpath(3) of an existing directory.  FS_ABSENT when it does not exist or is no directory. */
int fs_real_directory(const char *path, char **ret, struct error *err);

/* "<directory>/<name>", one slash between.  The caller frees. */
char *path_join(const char *directory, const char *name) MUST_USE;
/* Part after the last slash.  Borrowed. */
const char *path_basename(const char *path);
