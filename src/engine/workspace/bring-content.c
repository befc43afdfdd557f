/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Large files beside the objects of a clone, which `git fetch` does not bring.  The agent can write
 * anything there, so a file is taken only if its name is the digest of what was copied.
 */
#include "engine/workspace/bring.h"

#include "base/fsutil.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS = 2, CHUNK = 1 << 16, DIGEST = SHA256_TEXT_SIZE - 1 };

#define HEX       "0123456789abcdef"
#define TEMPORARY ".agentdeck-copy"

struct store {
	const char *below;    /* objects are two directories below it */
	bool has_directories; /* the object NAME is NAME/NAME */
	mode_t mode, directory_mode;
};
static const struct store stores[] = {
	{ "lfs/objects", false, 0644, 0777 },
	{ "annex/objects", true, 0444, 0777 },
};

/* The digest in git-annex's "SHA256E-s12--DIGEST.ext".  NULL: the name has none.  Borrowed. */
static const char *digest_in(const char *name)
{
	const char *digest = starts_with(name, "SHA256") ? strstr(name, "--") : NULL;
	digest = digest ? digest + 2 : name;
	const size_t length = strspn(digest, HEX);
	return length == DIGEST && (!digest[length] || digest[length] == '.') ? digest : NULL;
}

/* Returns whether the copy has that digest. */
static int copy_bytes(int from, int to, const char *digest, bool *ret, struct error *err)
{
	char buffer[CHUNK], found[SHA256_TEXT_SIZE];
	struct sha256 hash;
	ssize_t n;
	sha256_begin(&hash);
	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
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

/* Under its name only when all of it is there. */
static int copy_file(int from, int directory, const char *name, const struct store *store,
		     int64_t *count, struct error *err)
{
	bool has_name = false, is_right = false;
	/* One that was killed can have left it. */
	(void)unlinkat(directory, TEMPORARY, 0);
	cleanup_close int to = fs_open_new(directory, TEMPORARY, &has_name);
	if (to < 0)
		return error_set_file(err, errno, "make a copy of %s", name);
	int r = copy_bytes(from, to, digest_in(name), &is_right, err);
	if (r == 0 && is_right &&
	    (fchmod(to, store->mode) < 0 || fs_flush(to) < 0 ||
	     (fs_name_new(directory, to, has_name ? TEMPORARY : NULL, name) < 0 &&
	      errno != EEXIST) ||
	     fs_flush(directory) < 0))
		r = error_set_file(err, errno, "keep a copy of %s", name);
	if (has_name)
		(void)unlinkat(directory, TEMPORARY, 0);
	*count += r == 0 && is_right;
	return r;
}

static int open_below(int above, const char *name, mode_t mode)
{
	if (mode && mkdirat(above, name, mode) < 0 && errno != EEXIST)
		return -1;
	return fs_openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

static int take(int from, int to, const char *name, const struct store *store, int64_t *count,
		struct error *err)
{
	struct stat status;
	cleanup_close int within = -1, target = -1, file = -1;
	if (!digest_in(name))
		return 0;
	if (store->has_directories) {
		within = open_below(from, name, 0);
		target = open_below(to, name, store->directory_mode);
		if (within < 0)
			return 0;
		if (target < 0)
			return error_set_file(err, errno, "make %s", name);
		from = within;
		to = target;
	}
	if (fstatat(to, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	file = fs_openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	return copy_file(file, to, name, store, count, err);
}

static int copy_level(int from, int to, int level, const struct store *store, int64_t *count,
		      struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(from, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		if (level == LEVELS) {
			if (take(from, to, name, store, count, err) < 0)
				return -1;
			continue;
		}
		cleanup_close int source = open_below(from, name, 0);
		cleanup_close int target = source < 0 ? -1
						      : open_below(to, name, store->directory_mode);
		if (source < 0)
			continue;
		if (target < 0)
			return error_set_file(err, errno, "make %s", name);
		if (copy_level(source, target, level + 1, store, count, err) < 0)
			return -1;
	}
	return 0;
}

static int make_directories(const char *common, const struct store *store, struct error *err)
{
	cleanup_free char *path = path_join(common, store->below);
	cleanup_free char *above = xstrndup(path, (size_t)(path_basename(path) - path) - 1);
	if ((mkdir(above, store->directory_mode) < 0 && errno != EEXIST) ||
	    (mkdir(path, store->directory_mode) < 0 && errno != EEXIST))
		return error_set_file(err, errno, "make %s", path);
	return 0;
}

/* No link on the way, in the clone; a link of the user's is followed. */
static int copy_store(const char *clone, const char *common, const struct store *store,
		      int64_t *count, struct error *err)
{
	cleanup_free char *below = path_join(".git", store->below);
	cleanup_free char *path = path_join(common, store->below);
	cleanup_close int tree = fs_openat(AT_FDCWD, clone,
					   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	cleanup_close int from = tree < 0 ? -1
					  : fs_open_beneath(tree, below,
							    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (from < 0)
		return 0;
	if (fs_list(from, &names, err) < 0)
		return -1;
	/* An empty store is made by git-lfs, and needs none here. */
	if (!names.count)
		return 0;
	if (make_directories(common, store, err) < 0)
		return -1;
	cleanup_close int to = fs_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (to < 0)
		return error_set_file(err, errno, "open %s", path);
	return copy_level(from, to, 0, store, count, err);
}

int bring_copy_content(const char *clone, const char *common, int64_t *ret, struct error *err)
{
	int64_t count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (copy_store(clone, common, &stores[i], &count, err) < 0)
			return error_prefix(err, "%s", common);
	*ret = count;
	return 0;
}
