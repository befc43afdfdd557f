/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/orphan.h"

#include "base/fsutil.h"
#include "driver/assess/assess.h"
#include "engine/workspace/tree-internal.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void orphan_clear(struct orphan *orphan)
{
	free(orphan->path);
	free(orphan->name);
	free(orphan->root);
	free(orphan->source);
	verdict_free(&orphan->verdict);
	*orphan = (struct orphan){ 0 };
}

/* FS_ABSENT: there are none. */
static int open_all(const struct store *store, int *ret, struct error *err)
{
	return fs_open_private_directory_at(store_profile_directory(store), TREE_ALL, false, ret,
					    err);
}

int orphan_list(const struct store *store, struct strvec *ret, struct error *err)
{
	cleanup_close int all = -1;
	cleanup_strvec struct strvec names = { 0 };
	int r = open_all(store, &all, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (fs_list(all, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (naming_is_id(names.items[i]))
			strvec_push(ret, names.items[i]);
	return 0;
}

/* The only name that is not ours; NULL: there is none.  Borrowed.  More than one is not known. */
static const char *tree_in(const struct strvec *names, struct verdict *verdict)
{
	const char *found = NULL;
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		if (tree_is_ours(name))
			continue;
		if (found)
			verdict_unknown(verdict, "", "there is more than one tree");
		found = name;
	}
	return found;
}

static int read_origin(int directory, struct origin *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(directory, TREE_ORIGIN, ORIGIN_JSON_MOST, &text, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_NOT_FOUND,
					 "there is no record of what it was at first");
	return origin_parse(strbuf_text(&text), text.length, ret, err);
}

static bool is_directly_in(const char *path, const char *directory)
{
	const size_t length = strlen(directory);
	return starts_with(path, directory) && path[length] == '/' &&
	       path_basename(path) == path + length + 1 && path[length + 1] != '.';
}

static bool has_root_id(const char *root)
{
	cleanup_close int fd = fs_openat(AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	cleanup_free char *id = fd >= 0 ? tree_root_id(fd) : NULL;
	return id != NULL;
}

/* The tree was made elsewhere: our record says where, and its path has the id. */
static void follow_record(const struct origin *origin, const char *id, struct orphan *orphan)
{
	cleanup_free char *root = tree_root_of(origin->path, id);
	if (!root)
		return;
	replace_string(&orphan->path, origin->path);
	if (access(root, F_OK) != 0)
		verdict_unknown(&orphan->verdict, "", "its directory %s is not there", root);
	else if (access(origin->path, F_OK) == 0)
		replace_string(&orphan->name, path_basename(origin->path));
	else if (!has_root_id(root))
		verdict_unknown(&orphan->verdict, "",
				"its directory %s has no " TREE_ROOT_ID ": is its disk mounted?",
				root);
	orphan->root = TAKE_PTR(root);
}

static void judge(int directory, const char *id, struct orphan *orphan)
{
	cleanup_origin struct origin origin = { 0 };
	cleanup_error struct error err = { 0 };
	const bool has_record = read_origin(directory, &origin, &err) == 0;
	if (has_record && origin.kind == ORIGIN_WORKTREE)
		orphan->source = xstrdup(origin.source);
	/* Git may have a record of a tree that was deleted here. */
	if (!orphan->name && has_record && is_directly_in(origin.path, orphan->path))
		replace_string(&orphan->path, origin.path);
	else if (!orphan->name && has_record)
		follow_record(&origin, id, orphan);
	if (!orphan->name)
		return;
	if (!has_record)
		verdict_unknown(&orphan->verdict, "", "%s", err.message);
	else if (!streq(origin.path, orphan->path))
		verdict_unknown(&orphan->verdict, "", "its record is of another tree");
	else if (verdict_is_safe(&orphan->verdict)) {
		orphan->seen = tree_stamp_of(AT_FDCWD, orphan->path);
		assess_verdict(&origin, ASSESS_TIMEOUT_MS, &orphan->verdict);
	}
}

int orphan_look(const struct store *store, const char *path, const char *id, struct orphan *ret,
		struct error *err)
{
	cleanup_close int all = -1, directory = -1;
	cleanup_orphan struct orphan orphan = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	int r = open_all(store, &all, err);
	if (r == 0)
		r = fs_open_private_directory_at(all, id, false, &directory, err);
	if (r != 0)
		return r < 0 ? -1 : ORPHAN_ABSENT;
	if (fs_list(directory, &names, err) < 0)
		return -1;
	const char *name = tree_in(&names, &orphan.verdict);
	orphan.name = xstrdup_or_null(name);
	orphan.path = name ? xasprintf("%s/" TREE_ALL "/%s/%s", path, id, name)
			   : xasprintf("%s/" TREE_ALL "/%s", path, id);
	judge(directory, id, &orphan);
	*ret = orphan;
	orphan = (struct orphan){ 0 };
	return 0;
}

/* The directory that the tree is in. */
static int open_place(int all, const char *id, const struct orphan *orphan, struct tree_place *ret,
		      struct error *err)
{
	const bool is_elsewhere = orphan->root != NULL;
	int r = 0;
	if (is_elsewhere)
		r = tree_open_root(orphan->root, &ret->root, err);
	if (r == 0)
		r = fs_open_private_directory_at(is_elsewhere ? ret->root : all, id, false,
						 &ret->directory, err);
	ret->is_elsewhere = is_elsewhere && r == 0;
	return r < 0 ? -1 : 0;
}

int orphan_delete(const struct store *store, const char *id, const struct orphan *orphan,
		  struct error *err)
{
	cleanup_tree_place struct tree_place place = TREE_NO_PLACE;
	cleanup_close int all = -1;
	int r = open_all(store, &all, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	const struct tree_remains tree = {
		.id = id,
		.name = orphan->name ? orphan->name : TREE_REMOVED,
		.path = orphan->path,
		.source = orphan->source,
		.seen = orphan->name ? &orphan->seen : NULL,
	};
	return open_place(all, id, orphan, &place, err) < 0 ? -1
							    : tree_erase(all, &place, &tree, err);
}
