/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where trees are: below the profile, or below the root of the configuration.
 */
#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/workspace/setup.h"
#include "engine/workspace/tree-internal.h"
#include "engine/workspace/tree.h"
#include "model/session/naming.h"
#include "model/workspace/origin.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void tree_place_close(struct tree_place *place)
{
	if (place->root >= 0)
		(void)close(place->root);
	if (place->directory >= 0)
		(void)close(place->directory);
	*place = TREE_NO_PLACE;
}

/* ---- paths ----------------------------------------------------------------------------------- */

enum { ROOT_ID_MOST = 100, ROOT_ID_MS = 10 * 1000 };

static char *directory_of(const struct deck *deck, const char *id)
{
	return xasprintf("%s/%s/" TREE_ALL "/%s", deck->paths.state, deck->profile, id);
}

bool tree_is_ours(const char *name)
{
	return streq(name, TREE_ORIGIN) || streq(name, TREE_REMOVED) || streq(name, SETUP_LOG) ||
	       starts_with(name, FS_TEMPORARY_PREFIX);
}

static bool may_be_name(const char *name)
{
	return *name && !streq(name, ".") && !streq(name, "..") && !tree_is_ours(name);
}

static bool is_in_profile(const struct deck *deck, const struct instance *instance)
{
	cleanup_free char *directory = directory_of(deck, instance->id);
	const char *path = instance->workspace->path;
	const size_t length = strlen(directory);
	return starts_with(path, directory) && path[length] == '/' &&
	       path_basename(path) == path + length + 1;
}

/* Without "//", "/./" and "/../". */
static bool is_plain(const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy;
	if (*strsep(&rest, "/") != '\0')
		return false;
	for (const char *part; (part = strsep(&rest, "/"));)
		if (!*part || streq(part, ".") || streq(part, ".."))
			return false;
	return true;
}

char *tree_root_of(const char *path, const char *id)
{
	cleanup_free char *root = xstrdup(path);
	cleanup_free char *end = xasprintf("/%s/%s", id, path_basename(path));
	if (!is_plain(path) || !may_be_name(path_basename(path)) || !ends_with(root, end) ||
	    strlen(root) == strlen(end))
		return NULL;
	root[strlen(root) - strlen(end)] = '\0';
	return TAKE_PTR(root);
}

const char *tree_name(const struct deck *deck, const struct instance *instance)
{
	const char *path = instance->workspace->path, *name = path_basename(path);
	cleanup_free char *root = tree_root_of(path, instance->id);
	return root || (is_in_profile(deck, instance) && may_be_name(name)) ? name : NULL;
}

static char *configured(const struct deck *deck)
{
	const char *root = deck->settings.workspace_root;
	if (!root)
		return NULL;
	return starts_with(root, "~/") ? path_join(deck->paths.home, root + 2) : xstrdup(root);
}

int tree_choose(const struct deck *deck, const char *id, const char *source, char **ret,
		struct error *err)
{
	cleanup_free char *wish = configured(deck), *real = NULL;
	cleanup_free char *parent = NULL;
	cleanup_close int fd = -1;
	const char *name = path_basename(source);
	/* Git names its work trees by their real paths. */
	if (wish && access(wish, F_OK) != 0 && fs_open_private_directory(wish, &fd, err) < 0)
		return error_prefix(err, "[workspace] root");
	if (wish && fs_real_directory(wish, &real, err) != 0)
		return error_set(err, ERROR_INVALID, "[workspace] root: %s is not a directory",
				 wish);
	parent = real ? path_join(real, id) : directory_of(deck, id);
	*ret = path_join(parent, tree_is_ours(name) ? "tree" : name);
	return 0;
}

/* ---- directories ----------------------------------------------------------------------------- */

static int open_all(const struct deck *deck, bool make, int *ret, struct error *err)
{
	return fs_open_private_directory_at(store_profile_directory(deck->store), TREE_ALL, make,
					    ret, err);
}

int tree_open(const struct deck *deck, const char *id, bool make, int *ret, struct error *err)
{
	cleanup_close int all = -1;
	int r = open_all(deck, make, &all, err);
	return r != 0 ? r : fs_open_private_directory_at(all, id, make, ret, err);
}

int tree_open_root(const char *root, int *ret, struct error *err)
{
	cleanup_free char *shown = visible(root);
	if (access(root, F_OK) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the directory of its tree, %s, is not there: mount it, or make "
				 "it if the tree was deleted with it",
				 shown);
	return fs_open_private_directory(root, ret, err);
}

char *tree_root_id(int root)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(root, TREE_ROOT_ID, ROOT_ID_MOST, &text, NULL) != 0)
		return NULL;
	cleanup_free char *id = xstrdup(strbuf_text(&text));
	id[strcspn(id, "\n")] = '\0';
	return *id ? TAKE_PTR(id) : NULL;
}

/* Two sessions may begin at once; one that was killed has left an empty file. */
int tree_note_root(const struct tree_place *place, struct workspace *workspace, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (!place->is_elsewhere)
		return 0;
	int r = fs_lock(place->root, TREE_ROOT_ID, clock_ms() + ROOT_ID_MS, &lock, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_TIMEOUT,
					 TREE_ROOT_ID " stays locked: try again");
	cleanup_free char *id = tree_root_id(place->root);
	if (!id) {
		id = naming_new_uuid();
		cleanup_free char *line = xasprintf("%s\n", id);
		if (fs_write_all(lock.fd, line, strlen(line), TREE_ROOT_ID, err) < 0)
			return -1;
		if (fs_flush(lock.fd) < 0 || fs_flush(place->root) < 0)
			return error_set_file(err, errno, "sync %s", TREE_ROOT_ID);
	}
	replace_string(&workspace->root_id, id);
	return 0;
}

/* A mount point on which nothing is mounted looks like a root that has lost all of its trees. */
static int check_root_id(const char *root, const struct workspace *workspace, int fd,
			 struct error *err)
{
	cleanup_free char *id = tree_root_id(fd), *shown = visible(root);
	if (!workspace->is_made || !workspace->root_id || (id && streq(id, workspace->root_id)))
		return 0;
	return error_set(
		err, ERROR_UNAVAILABLE,
		"%s is not the directory that its tree was made in: mount the disk. If that "
		"is lost for good: echo %s >%s/" TREE_ROOT_ID,
		shown, workspace->root_id, shown);
}

/* A tree that was never made there has lost nothing with it. */
static int open_root(const char *root, const struct workspace *workspace, bool make, int *ret,
		     struct error *err)
{
	cleanup_close int fd = -1;
	if (workspace->is_made || access(root, F_OK) == 0) {
		if (tree_open_root(root, &fd, err) < 0 ||
		    check_root_id(root, workspace, fd, err) < 0)
			return -1;
		*ret = TAKE_FD(fd);
		return 0;
	}
	return make ? fs_open_private_directory(root, ret, err) : FS_ABSENT;
}

int tree_open_place(const struct deck *deck, const struct instance *instance, bool make,
		    struct tree_place *ret, struct error *err)
{
	CLEANUP(tree_place_close) struct tree_place place = TREE_NO_PLACE;
	cleanup_free char *root = is_in_profile(deck, instance)
					  ? NULL
					  : tree_root_of(instance->workspace->path, instance->id);
	int r = root ? open_root(root, instance->workspace, make, &place.root, err)
		     : open_all(deck, make, &place.root, err);
	if (r == 0)
		r = fs_open_private_directory_at(place.root, instance->id, make, &place.directory,
						 err);
	if (r != 0)
		return r;
	place.is_elsewhere = root != NULL;
	*ret = place;
	place = TREE_NO_PLACE;
	return 0;
}

static bool has_record(const struct deck *deck, const struct instance *instance)
{
	cleanup_close int records = -1;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_origin struct origin origin = { 0 };
	return tree_open(deck, instance->id, false, &records, NULL) == 0 &&
	       fs_read(records, TREE_ORIGIN, ORIGIN_JSON_MOST, &text, NULL) == 0 &&
	       origin_parse(strbuf_text(&text), text.length, &origin, NULL) == 0 &&
	       streq(origin.path, instance->workspace->path);
}

static bool is_configured(const struct deck *deck, const struct instance *instance)
{
	cleanup_free char *wish = configured(deck), *real = NULL;
	cleanup_free char *root = tree_root_of(instance->workspace->path, instance->id);
	return wish && root && fs_real_directory(wish, &real, NULL) == 0 && streq(real, root);
}

int tree_check_ours(const struct deck *deck, const struct instance *instance, struct error *err)
{
	cleanup_free char *shown = visible(instance->workspace->path);
	if (access(instance->workspace->path, F_OK) != 0 || is_in_profile(deck, instance) ||
	    is_configured(deck, instance) || has_record(deck, instance))
		return 0;
	return error_set(
		err, ERROR_EXISTS,
		"nothing says that agentdeck has made %s: move it away, or set [workspace] "
		"root to the directory that it was made in",
		shown);
}
