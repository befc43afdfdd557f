/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * transcript.h: the only function that writes where an agent keeps its transcripts, and only at its
 * user's request.
 */
#include "driver/transcript/transcript.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

static int open_source(const char *path, int *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_set_file(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s is not a file of yours", path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int copy_all(int source, int target, const char *path, struct error *err)
{
	char chunk[CHUNK];
	for (;;) {
		ssize_t n = read(source, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "read %s", path);
		if (n == 0)
			return 0;
		if (fs_write_all(target, chunk, (size_t)n, path, err) < 0)
			return -1;
	}
}

static int copy_durably(int folder, const char *temporary, const char *name, const char *path,
			struct error *err)
{
	cleanup_close int source = -1, target = -1;
	if (open_source(path, &source, err) < 0)
		return -1;
	target = fs_openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			   0600);
	if (target < 0)
		return error_set_file(err, errno, "make a copy of %s", path);
	if (copy_all(source, target, path, err) < 0)
		return -1;
	if (fs_flush(target) < 0)
		return error_set_file(err, errno, "sync the copy of %s", path);
	if (renameat2(folder, temporary, folder, name, RENAME_NOREPLACE) < 0)
		return errno == EEXIST ? TRANSCRIPT_TAKEN
				       : error_set_file(err, errno, "make a copy of %s", path);
	return fs_flush(folder) < 0
		       ? error_set_file(err, errno, "sync the directory of the copy of %s", path)
		       : 0;
}

int transcript_copy(const char *path, const char *config_home, const char *directory, char **ret,
		    struct error *err)
{
	cleanup_free char *slug = transcript_slug(directory);
	cleanup_free char *projects = path_join(config_home, "projects");
	cleanup_free char *place = path_join(projects, slug);
	cleanup_free char *temporary = xasprintf(".tmp-%d-%s", (int)getpid(), path_basename(path));
	/* Follow links up to here: some people move their agent's home to another disk. */
	cleanup_close int above = open(projects, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return error_set_file(err, errno, "open %s", projects);
	if (mkdirat(above, slug, 0700) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "make %s", place);
	cleanup_close int folder = openat(above, slug,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return error_set_file(err, errno, "open %s", place);
	int r = copy_durably(folder, temporary, path_basename(path), path, err);
	if (r != 0)
		(void)unlinkat(folder, temporary, 0);
	if (r < 0)
		return -1;
	*ret = path_join(place, path_basename(path));
	return r;
}
