/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/role/fetch.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "base/sha256.h"
#include "driver/git/snapshot.h"
#include "model/role/role-what.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define CACHE "roles.cache"
enum { LOCK_MS = 5 * 60 * 1000 };

/* What the cache has of one URL, under its lock. */
struct cache {
	char *path, *repository;
	int directory;
	struct fs_lock lock;
};

static void cache_close(struct cache *cache)
{
	free(cache->path);
	free(cache->repository);
	if (cache->directory >= 0)
		(void)close(cache->directory);
	fs_unlock(&cache->lock);
}
#define cleanup_cache CLEANUP(cache_close)
#define NO_CACHE      ((struct cache){ .directory = -1, .lock = FS_UNLOCKED })

/* The files of a commit have its name only when they are complete, and never change.  So those who
 * need them do not wait for one that fetches others. */
static bool has_files(const struct deck *deck, const char *url, const char *commit)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_free char *path = xasprintf("%s/" CACHE "/%s/%s", deck->paths.state,
					    sha256_text(url, digest), commit);
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int open_cache(const struct deck *deck, const char *url, struct cache *ret,
		      struct error *err)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_free char *top = path_join(deck->paths.state, CACHE);
	cleanup_free char *lock = xasprintf("%s.lock", sha256_text(url, digest));
	cleanup_close int fd = -1;
	if (fs_open_private_directory(top, &fd, err) < 0)
		return -1;
	const int r = fs_lock(fd, lock, clock_ms() + LOCK_MS, &ret->lock, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_BUSY,
					 "another agentdeck fetches this role: try again");
	ret->path = path_join(top, digest);
	ret->repository = path_join(ret->path, "git");
	return fs_open_private_directory(ret->path, &ret->directory, err);
}

/* ---- the files of a commit ------------------------------------------------------------------- */

#define UNFINISHED ".unfinished"

/* Under a name that is no commit, so that a kill leaves no half of one. */
static int lay_out(const struct cache *cache, const char *commit, struct error *err)
{
	cleanup_close int fd = -1;
	if (fs_remove_tree(cache->directory, UNFINISHED, err) < 0 ||
	    fs_open_private_directory_at(cache->directory, UNFINISHED, true, &fd, err) < 0)
		return -1;
	if (snapshot_lay_out(cache->repository, commit, fd, err) < 0) {
		(void)fs_remove_tree(cache->directory, UNFINISHED, NULL);
		return -1;
	}
	/* The name must not be there before the content is, also after a power cut. */
	(void)syncfs(fd);
	return renameat(cache->directory, UNFINISHED, cache->directory, commit) < 0
		       ? error_set_file(err, errno, "keep the files of commit %s", commit)
		       : 0;
}

/* *ret, the caller's: where they are. */
static int find_files(const struct cache *cache, const char *commit, char **ret, struct error *err)
{
	if (faccessat(cache->directory, commit, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    lay_out(cache, commit, err) < 0)
		return -1;
	cleanup_free char *path = path_join(cache->path, commit);
	const int r = fs_real_directory(path, ret, err);
	return r > 0 ? error_set(err, ERROR_CORRUPT, "%s is no directory: delete it", path) : r;
}

/* "URL@COMMIT#SUBDIR", of a role that is called "URL#SUBDIR/FILE".  The caller frees. */
static char *name_commit(const char *url, const char *commit, const char *name)
{
	const char *path = name + strlen(url), *slash = strrchr(path, '/');
	cleanup_free char *subdir = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
	return xasprintf("%s@%s%s", url, commit, subdir);
}

int role_restore(const struct deck *deck, const char *url, const char *commit, const char *name,
		 struct error *err)
{
	cleanup_cache struct cache cache = NO_CACHE;
	cleanup_free char *where = name_commit(url, commit, name), *shown = visible(where);
	cleanup_free char *files = NULL;
	bool has_commit = false;
	if (has_files(deck, url, commit))
		return 0;
	if (open_cache(deck, url, &cache, err) < 0 ||
	    snapshot_has(cache.repository, commit, &has_commit, err) < 0)
		return -1;
	return has_commit ? find_files(&cache, commit, &files, err)
			  : error_set(err, ERROR_NOT_FOUND,
				      "what its role was is not in " CACHE " any more: fetch it "
				      "again with agentdeck role check %s",
				      shown);
}

/* ---- what its user types --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "PATH@REF#SUBDIR", where PATH is a directory.  ROLE_WHAT_PATH: it begins with none. */
static int read_path(const char *where, struct role_what *ret, struct error *err)
{
	for (size_t i = strcspn(where, "@#"); where[i]; i += 1 + strcspn(where + i + 1, "@#")) {
		cleanup_free char *path = xstrndup(where, i), *real = NULL;
		if (!is_directory(path))
			continue;
		const int r = fs_real_directory(path, &real, err);
		if (r < 0)
			return -1;
		cleanup_free char *text = xasprintf("%s%s", real, where + i);
		return r > 0 ? ROLE_WHAT_PATH : role_what_read_path(text, strlen(real), ret, err);
	}
	return ROLE_WHAT_PATH;
}

/* A path of this machine is the same one from everywhere. */
static int settle_path(struct role_what *what, struct error *err)
{
	cleanup_free char *real = NULL, *shown = visible(what->url);
	const int r = what->is_local ? fs_real_directory(what->url, &real, err) : 0;
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "%s is no directory", shown);
	if (real)
		replace_string(&what->url, real);
	return 0;
}

static int read_what(const char *where, struct role_what *ret, struct error *err)
{
	/* A repository could have a directory of the name of a URL. */
	if (!strstr(where, "://") && is_directory(where))
		return ROLE_WHAT_PATH;
	int r = role_what_read(where, ret, err);
	if (r == ROLE_WHAT_PATH)
		r = read_path(where, ret, err);
	return r == 0 ? settle_path(ret, err) : r;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A commit never changes: it is not fetched twice. */
static int fetch(const struct cache *cache, const struct role_what *what, struct snapshot *ret,
		 struct error *err)
{
	const struct snapshot_source source = { .url = what->url,
						.ref = what->ref,
						.is_local = what->is_local };
	bool has_commit = false;
	if (what->ref && role_what_is_commit(what->ref) &&
	    snapshot_has(cache->repository, what->ref, &has_commit, err) < 0)
		return -1;
	if (!has_commit)
		return snapshot_fetch(cache->repository, &source, ret, err);
	*ret = (struct snapshot){ .commit = xstrdup(what->ref) };
	return 0;
}

static int read_files(const struct deck *deck, const struct role_what *what, const char *files,
		      const struct role_place *usual, struct role_source *ret, struct error *err)
{
	cleanup_free char *directory = path_join(files, what->subdir ? what->subdir : ".");
	cleanup_free char *called = xasprintf("%s#", what->url);
	struct role_place place = *usual;
	place.directory = directory;
	place.top = files;
	place.called = called;
	return role_source_read_at(deck, &place, ret, err);
}

static int fetch_role(const struct deck *deck, const struct role_what *what,
		      const struct role_place *place, struct role_source *ret, struct error *err)
{
	cleanup_cache struct cache cache = NO_CACHE;
	cleanup_snapshot struct snapshot snapshot = { 0 };
	cleanup_free char *files = NULL, *shown = visible(what->url);
	if (open_cache(deck, what->url, &cache, err) < 0 ||
	    fetch(&cache, what, &snapshot, err) < 0 ||
	    find_files(&cache, snapshot.commit, &files, err) < 0)
		return -1;
	if (read_files(deck, what, files, place, ret, err) < 0)
		return error_prefix(err, "%s", shown);
	replace_string(&ret->where, place->directory);
	ret->url = xstrdup(what->url);
	ret->ref = xstrdup_or_null(what->ref);
	ret->commit = TAKE_PTR(snapshot.commit);
	if (snapshot.before && !streq(snapshot.before, ret->commit))
		ret->before = TAKE_PTR(snapshot.before);
	log_info("role: url=%s ref=%s commit=%s", what->url, or_empty(what->ref), ret->commit);
	return 0;
}

int role_source_fetch(const struct deck *deck, const char *where, const char *workspace,
		      const char *group, struct role_source *ret, struct error *err)
{
	cleanup_role_what struct role_what what = { 0 };
	const struct role_place place = { .directory = where,
					  .workspace = workspace,
					  .group = group };
	const int r = read_what(where, &what, err);
	if (r < 0)
		return -1;
	return r == 0 ? fetch_role(deck, &what, &place, ret, err)
		      : role_source_read_at(deck, &place, ret, err);
}
