/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Large files beside the objects of a clone, which `git fetch` does not bring.  The agent can write
 * anything there, so a file is taken only if its name is the digest of what was copied.
 */
#include "engine/workspace/bring-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* SPARED: one in so many blocks of the file system stays free, but no more than these bytes. */
enum { CHUNK = 1 << 16, DIGEST = SHA256_TEXT_SIZE - 1, SPARED = 20, SPARED_BYTES = 1 << 30 };

#define HEX       "0123456789abcdef"
#define TEMPORARY ".agentdeck-copy-"

struct store {
	const char *below; /* the Git directory */
	unsigned levels;   /* of directories below that, above the objects */
	mode_t mode;       /* of an object */
};
static const struct store stores[] = {
	{ "lfs/objects", 2, 0644 },
	/* The object NAME is NAME/NAME. */
	{ "annex/objects", 3, 0444 },
};

struct copying {
	const struct store *store;
	int from;           /* the clone's */
	int to;             /* the repository's, or its Git directory if that has none yet */
	const char *prefix; /* of a path below the latter */
	int64_t deadline_ms;
	int64_t count;
};

/* The digest in git-annex's "SHA256E-s12--DIGEST.ext".  NULL: the name has none.  Borrowed. */
static const char *digest_in(const char *name)
{
	const char *digest = starts_with(name, "SHA256") ? strstr(name, "--") : NULL;
	digest = digest ? digest + 2 : name;
	const size_t length = strspn(digest, HEX);
	return length == DIGEST && (!digest[length] || digest[length] == '.') ? digest : NULL;
}

/* Is it where its program looks for it?  "12/34/1234...", "x/y/NAME/NAME". */
static bool is_in_place(const struct store *store, const char *path)
{
	const char *name = path_basename(path), *digest = digest_in(name);
	if (!digest)
		return false;
	cleanup_free char *end = store->levels == 2
					 ? xasprintf("%.2s/%.2s/%s", digest, digest + 2, digest)
					 : xasprintf("/%s/%s", name, name);
	return store->levels == 2 ? streq(path, end) : ends_with(path, end);
}

static int check_time(const struct copying *copying, struct error *err)
{
	return clock_left_ms(copying->deadline_ms) > 0
		       ? 0
		       : error_set(err, ERROR_TIMEOUT,
				   "its large files are not all copied in time: try again, and the "
				   "rest is copied");
}

/* The agent chooses the size, also that of a file with holes. */
static int check_space(const struct copying *copying, const char *path, int64_t size,
		       struct error *err)
{
	struct statvfs space;
	cleanup_free char *shown = visible(path);
	if (fstatvfs(copying->to, &space) < 0)
		return error_set_file(err, errno, "find out how much space is free");
	/* Some network file systems and FUSE do not know. */
	if (!space.f_blocks || !space.f_frsize)
		return 0;
	const uint64_t most = SPARED_BYTES / space.f_frsize, share = space.f_blocks / SPARED;
	const uint64_t spared = share < most ? share : most;
	const uint64_t blocks = space.f_bavail > spared ? space.f_bavail - spared : 0;
	return (uint64_t)size / space.f_frsize < blocks
		       ? 0
		       : error_set(err, ERROR_SYSTEM,
				   "%s of its clone has %" PRId64 " MB, and there is no space for "
				   "that: free some, or delete the file in the clone",
				   shown, size >> 20);
}

/* At most so many bytes, as the file can grow meanwhile.  Returns whether they have that digest. */
static int copy_bytes(const struct copying *copying, int from, int to, int64_t size,
		      const char *digest, bool *ret, struct error *err)
{
	char buffer[CHUNK], found[SHA256_TEXT_SIZE];
	struct sha256 hash;
	ssize_t n = 0;
	sha256_begin(&hash);
	for (; size > 0; size -= n) {
		if (check_time(copying, err) < 0)
			return -1;
		n = read(from, buffer, size < CHUNK ? (size_t)size : CHUNK);
		if (n <= 0)
			break;
		sha256_add(&hash, buffer, (size_t)n);
		if (fs_write_all(to, buffer, (size_t)n, "a large file", err) < 0)
			return -1;
	}
	if (n < 0)
		return error_set_errno(err, errno, "read a large file");
	sha256_end(&hash, found);
	*ret = strncmp(found, digest, DIGEST) == 0;
	return 0;
}

/* Returns the directory of a path below one; -1 with errno. */
static int make_directory_of(int above, const char *path)
{
	const char *slash = path;
	cleanup_free char *directory = NULL;
	while ((slash = strchr(slash + 1, '/'))) {
		free(directory);
		directory = xstrndup(path, (size_t)(slash - path));
		if (mkdirat(above, directory, 0777) < 0 && errno != EEXIST)
			return -1;
	}
	return fs_openat(above, or_empty(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

/* A file of another size is a part of it, such as an interrupted cp leaves. */
static bool has_it(int directory, const char *path, int64_t size)
{
	struct stat status;
	return fstatat(directory, path, &status, 0) == 0 && S_ISREG(status.st_mode) &&
	       status.st_size == size;
}

/* A link stays: what it leads to may be on a disk that is not mounted. */
static int give_name(const struct copying *copying, int file, const char *temporary,
		     const char *path, int64_t size)
{
	struct stat status;
	if (fs_name_new(copying->to, file, temporary, path) == 0)
		return 0;
	if (errno != EEXIST)
		return -1;
	if (has_it(copying->to, path, size))
		return 0;
	if (fstatat(copying->to, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode) && unlinkat(copying->to, path, 0) == 0)
		return fs_name_new(copying->to, file, temporary, path);
	errno = EEXIST;
	return -1;
}

/* Under its name, and with its directories, only when it is known to be right.  No two processes
 * share a temporary name: one of them could name what the other has begun. */
static int copy_file(struct copying *copying, int from, const char *path, int64_t size,
		     struct error *err)
{
	bool has_name = false, is_right = false;
	uint64_t random = 0;
	if (check_space(copying, path, size, err) < 0)
		return -1;
	if (getrandom(&random, sizeof(random), 0) < 0)
		return error_set_errno(err, errno, "choose a name for a copy");
	cleanup_free char *temporary = xasprintf(TEMPORARY "%016" PRIx64, random);
	cleanup_close int to = fs_open_new(copying->to, temporary, &has_name);
	if (to < 0)
		return error_set_file(err, errno, "make a copy of %s", path);
	int r = copy_bytes(copying, from, to, size, digest_in(path_basename(path)), &is_right, err);
	if (r == 0 && is_right) {
		cleanup_close int directory = make_directory_of(copying->to, path);
		if (directory < 0 || fchmod(to, copying->store->mode) < 0 || fs_flush(to) < 0 ||
		    give_name(copying, to, has_name ? temporary : NULL, path, size) < 0 ||
		    fs_flush(directory) < 0)
			r = error_set_file(err, errno, "keep a copy of %s", path);
	}
	if (has_name)
		(void)unlinkat(copying->to, temporary, 0);
	copying->count += r == 0 && is_right;
	return r;
}

static int take(struct copying *copying, const char *path, struct error *err)
{
	struct stat status;
	cleanup_free char *target = xasprintf("%s%s", copying->prefix, path);
	if (!is_in_place(copying->store, path))
		return 0;
	cleanup_close int file = fs_open_beneath(copying->from, path, O_RDONLY | O_NONBLOCK);
	if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode) ||
	    has_it(copying->to, target, status.st_size))
		return 0;
	return copy_file(copying, file, target, status.st_size, err);
}

/* An agent's other names become nothing in the repository. */
static int copy_level(struct copying *copying, const char *path, unsigned level, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = fs_open_beneath(copying->from, *path ? path : ".",
					       O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return 0;
	if (check_time(copying, err) < 0 || fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *below = *path ? path_join(path, names.items[i])
						 : xstrdup(names.items[i]);
		if ((level < copying->store->levels ? copy_level(copying, below, level + 1, err)
						    : take(copying, below, err)) < 0)
			return -1;
	}
	return 0;
}

/* No link on the way, in the clone; a link of the user's is followed. */
static int copy_store(int clone, int common, const struct store *store, int64_t deadline_ms,
		      int64_t *count, struct error *err)
{
	cleanup_free char *prefix = xasprintf("%s/", store->below);
	cleanup_close int from = fs_open_beneath(clone, store->below, O_RDONLY | O_DIRECTORY);
	cleanup_close int to = fs_openat(common, store->below, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
					 0);
	struct copying copying = { .store = store,
				   .from = from,
				   .to = to < 0 ? common : to,
				   .prefix = to < 0 ? prefix : "",
				   .deadline_ms = deadline_ms };
	if (from < 0)
		return 0;
	/* A call that was killed can have left one, also before the store was made. */
	fs_sweep_prefix(common, TEMPORARY);
	fs_sweep_prefix(copying.to, TEMPORARY);
	const int r = copy_level(&copying, "", 0, err);
	*count += copying.count;
	return r;
}

int bring_copy_content(const char *directory, const char *common, int64_t deadline_ms, int64_t *ret,
		       struct error *err)
{
	int64_t count = 0;
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	cleanup_close int from = fs_openat(AT_FDCWD, directory, flags | O_NOFOLLOW, 0);
	cleanup_close int to = fs_openat(AT_FDCWD, common, flags, 0);
	if (from < 0 || to < 0)
		return error_set_file(err, errno, "open %s", from < 0 ? directory : common);
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (copy_store(from, to, &stores[i], deadline_ms, &count, err) < 0)
			return error_prefix(err, "%s", common);
	*ret = count;
	return 0;
}
