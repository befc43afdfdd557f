/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * transcript.h: the only functions that write where an agent keeps its transcripts, and only at its
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

#define PROJECTS "projects"

enum { CHUNK = 64 << 10 };
#define WHOLE INT64_MAX

static int open_file(const char *within, const char *path)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	if (!within)
		return open(path, flags);
	const size_t length = strlen(within);
	if (!starts_with(path, within) || path[length] != '/') {
		errno = EXDEV;
		return -1;
	}
	cleanup_close int above = open(within, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return above < 0 ? -1 : fs_open_beneath(above, path + length + 1, flags);
}

int transcript_open(const char *within, const char *path, int *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open_file(within, path);
	if (fd < 0)
		return error_set_file(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s is not a file of yours", path);
	*ret = TAKE_FD(fd);
	return 0;
}

/* An open transcript, and how much of it is copied. */
struct source {
	int fd;
	off_t length;
	bool grows; /* its beginning may be there, and is replaced */
};

static int copy_all(const struct source *source, int target, const char *path, struct error *err)
{
	char chunk[CHUNK];
	for (off_t left = source->length;;) {
		const size_t most = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t n = most ? read(source->fd, chunk, most) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "read %s", path);
		if (n == 0)
			return 0;
		if (fs_write_all(target, chunk, (size_t)n, path, err) < 0)
			return -1;
		left -= n;
	}
}

/* Is the file of this name a regular one, and the source begins with all of it? */
static bool is_beginning(const struct source *source, int folder, const char *name)
{
	char old[CHUNK], new[CHUNK];
	struct stat st;
	cleanup_close int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	for (off_t at = 0; at < st.st_size;) {
		const ssize_t n = pread(fd, old, CHUNK, at);
		if (n <= 0 || pread(source->fd, new, (size_t)n, at) != n ||
		    memcmp(old, new, (size_t)n) != 0)
			return false;
		at += n;
	}
	return true;
}

/* The name is taken: replace what is there, if nothing of that is lost. */
static int replace(const struct source *source, int folder, int target, const char *temporary,
		   bool has_name, const char *path, struct error *err)
{
	const char *name = path_basename(path);
	if (!source->grows || !is_beginning(source, folder, name))
		return TRANSCRIPT_TAKEN;
	if ((!has_name && fs_name_new(folder, target, NULL, temporary) < 0) ||
	    renameat(folder, temporary, folder, name) < 0)
		return error_set_file(err, errno, "replace %s", path);
	return 0;
}

static int copy_durably(const struct source *source, int folder, const char *temporary,
			const char *path, struct error *err)
{
	bool has_name;
	cleanup_close int target = fs_open_new(folder, temporary, &has_name);
	if (target < 0)
		return error_set_file(err, errno, "make a copy of %s", path);
	if (copy_all(source, target, path, err) < 0)
		return -1;
	if (fs_flush(target) < 0)
		return error_set_file(err, errno, "sync the copy of %s", path);
	if (fs_name_new(folder, target, has_name ? temporary : NULL, path_basename(path)) < 0) {
		const int r = errno == EEXIST
				      ? replace(source, folder, target, temporary, has_name, path,
						err)
				      : error_set_file(err, errno, "make a copy of %s", path);
		if (r != 0)
			return r;
	}
	return fs_flush(folder) < 0
		       ? error_set_file(err, errno, "sync the directory of the copy of %s", path)
		       : 0;
}

static int copy_into(const struct source *source, int folder, const char *path, struct error *err)
{
	cleanup_free char *temporary = xasprintf(".tmp-%d-%s", (int)getpid(), path_basename(path));
	int r = copy_durably(source, folder, temporary, path, err);
	if (r != 0)
		(void)unlinkat(folder, temporary, 0);
	return r;
}

/* Make the directory of this name if it is missing, durably, and open it. */
static int enter(int above, const char *name, int flags, const char *path, int *ret,
		 struct error *err)
{
	if (mkdirat(above, name, 0700) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "make the directories of %s", path);
	const int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (fd < 0)
		return error_set_file(err, errno, "open the directories of %s", path);
	*ret = fd;
	return fs_flush(above) < 0 ? error_set_file(err, errno, "sync the directories of %s", path)
				   : 0;
}

static int open_home(const char *config_home, int *ret, struct error *err)
{
	int fd = open(config_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* The agent has not run here yet. */
	if (fd < 0 && errno == ENOENT)
		return fs_open_private_directory(config_home, ret, err);
	if (fd < 0)
		return error_set_file(err, errno, "open %s", config_home);
	*ret = fd;
	return 0;
}

static int put(const struct source *source, const char *config_home, const char *place,
	       struct error *err)
{
	cleanup_free char *path = path_join(config_home, place);
	cleanup_free char *copy = xstrdup(place);
	cleanup_close int folder = -1;
	/* Links are followed up to the first directory: some people move it to another disk. */
	int flags = 0;
	char *rest = copy;
	if (open_home(config_home, &folder, err) < 0)
		return -1;
	for (const char *name; (name = strsep(&rest, "/")) && rest; flags = O_NOFOLLOW) {
		int below = -1;
		const int r = enter(folder, name, flags, path, &below, err);
		if (below >= 0) {
			(void)close(folder);
			folder = below;
		}
		if (r < 0)
			return -1;
	}
	return copy_into(source, folder, path, err);
}

int transcript_put(int source, const char *config_home, const char *place, struct error *err)
{
	return put(&(struct source){ source, WHOLE, false }, config_home, place, err);
}

int transcript_grow(int source, const char *config_home, const char *place, struct error *err)
{
	return put(&(struct source){ source, WHOLE, true }, config_home, place, err);
}

/* Finds the end of the last complete line in the first `length` bytes. */
static int find_end(int fd, off_t length, const char *path, off_t *ret, struct error *err)
{
	char chunk[CHUNK];
	for (off_t end = length, start; end > 0; end = start) {
		start = end > CHUNK ? end - CHUNK : 0;
		const ssize_t n = pread(fd, chunk, (size_t)(end - start), start);
		if (n < 0)
			return error_set_errno(err, errno, "read %s", path);
		const char *newline = memrchr(chunk, '\n', (size_t)n);
		if (newline) {
			*ret = start + (newline - chunk) + 1;
			return 0;
		}
	}
	return error_set(err, ERROR_CORRUPT, "%s has no whole line up to byte %lld", path,
			 (long long)length);
}

int transcript_branch(const struct transcript_branch *branch, const char *config_home,
		      const char *directory, char **ret, struct error *err)
{
	cleanup_free char *slug = transcript_slug(directory);
	cleanup_free char *place = xasprintf(PROJECTS "/%s/%s.jsonl", slug, branch->session_id);
	cleanup_close int fd = -1;
	struct source source = { 0 };
	if (transcript_open(NULL, branch->path, &fd, err) < 0 ||
	    find_end(fd, branch->length, branch->path, &source.length, err) < 0)
		return -1;
	source.fd = fd;
	const int r = put(&source, config_home, place, err);
	if (r == 0)
		*ret = path_join(config_home, place);
	return r;
}

int transcript_copy(const char *path, const char *config_home, const char *directory, char **ret,
		    struct error *err)
{
	cleanup_free char *slug = transcript_slug(directory);
	cleanup_close int source = -1;
	if (transcript_open(NULL, path, &source, err) < 0)
		return -1;
	cleanup_free char *place = xasprintf(PROJECTS "/%s/%s", slug, path_basename(path));
	const int r = transcript_put(source, config_home, place, err);
	if (r >= 0)
		*ret = path_join(config_home, place);
	return r;
}

int transcript_plant(int source, const char *path, int config_home, const char *directory,
		     struct error *err)
{
	cleanup_free char *slug = transcript_slug(directory);
	cleanup_close int projects = -1, folder = -1;
	if (fs_open_private_directory_at(config_home, PROJECTS, true, &projects, err) < 0 ||
	    fs_open_private_directory_at(projects, slug, true, &folder, err) < 0)
		return -1;
	/* The names above it, too. */
	return fs_flush(projects) < 0 || fs_flush(config_home) < 0
		       ? error_set_file(err, errno, "sync the directory of the copy of %s", path)
		       : copy_into(&(struct source){ source, WHOLE, false }, folder, path, err);
}
