/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/trash.h"

#include "base/clock.h"
#include "driver/store/store-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define TRASH TRASH_DIRECTORY

enum { TIME_LENGTH = sizeof("2026-04-14T09:08:01.000Z") - 1, LOCK_TIMEOUT_MS = 5000 };

static void removed_clear(struct removed *removed)
{
	free(removed->name);
	free(removed->base);
	instance_free(removed->instance);
	error_clear(&removed->error);
}

void trash_free(struct trash *trash)
{
	for (size_t i = 0; i < trash->count; i++)
		removed_clear(&trash->items[i]);
	free(trash->items);
	*trash = (struct trash){ 0 };
}

/* FS_ABSENT: there is none. */
static int open_trash(const struct store *store, bool make, int *ret, struct error *err)
{
	int r = fs_open_private_directory_at(store->directory, TRASH, make, ret, err);
	return r < 0 ? error_prefix(err, "%s", store->path) : r;
}

/* Two within a millisecond must not meet. */
static char *new_name(int trash, const char *base)
{
	char time[CLOCK_TEXT_SIZE];
	char *name = NULL;
	struct stat st;
	int64_t now = clock_wall_us();
	do {
		free(name);
		name = xasprintf("%s-%s", clock_format(now, time), base);
		now += 1000;
	} while (fstatat(trash, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return name;
}

int trash_put(struct store_lock *lock, struct error *err)
{
	cleanup_store_lock struct store_lock *held = lock;
	cleanup_close int trash = -1;
	const struct store *store = held->store;
	if (open_trash(store, true, &trash, err) < 0)
		return -1;
	cleanup_free char *name = new_name(trash, held->base);
	cleanup_free char *lock_file = store_lock_name(held->base);
	if (renameat(store->directory, held->base, trash, name) < 0)
		return error_set_file(err, errno, "remove %s/%s", store->path, held->base);
	/* The new name before the loss of the old one. */
	if (fs_flush(trash) < 0 || fs_flush(store->directory) < 0) {
		error_set_file(err, errno, "sync %s", store->path);
		(void)renameat(trash, name, store->directory, held->base);
		return -1;
	}
	(void)unlinkat(store->directory, lock_file, 0);
	return 0;
}

static bool is_manifest(const char *name)
{
	return streq(name, STORE_MANIFEST) || starts_with(name, STORE_DAMAGED);
}

/* Has a deletion been cut off after the manifest? */
static int is_rest(int directory, bool *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	bool rest = true;
	if (fs_list(directory, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		rest = rest && !is_manifest(names.items[i]);
	*ret = rest;
	return 0;
}

/* Is everything in this directory a file that agentdeck makes?  TRASH_KEPT: no. */
static int check_ours(const struct store *store, int directory, const struct strvec *names,
		      struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		struct stat st;
		if (!is_manifest(name) && !starts_with(name, FS_TEMPORARY_PREFIX))
			return TRASH_KEPT;
		if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_set_file(err, errno, "stat %s/" TRASH "/.../%s", store->path,
					      name);
		if (!S_ISREG(st.st_mode))
			return TRASH_KEPT;
	}
	return 0;
}

/* Returns false if it is nothing of ours. */
static bool read_removed(struct store *store, int trash, const char *name, struct removed *ret)
{
	cleanup_close int directory = -1;
	if (strlen(name) <= TIME_LENGTH + 1 || name[TIME_LENGTH] != '-')
		return false;
	cleanup_free char *time = xstrndup(name, TIME_LENGTH);
	const char *base = name + TIME_LENGTH + 1;
	const int64_t removed_at = clock_parse(time);
	struct removed removed = { .removed_at = removed_at };
	if (removed_at <= 0 || !store_is_base(base) ||
	    fs_open_private_directory_at(trash, name, false, &directory, NULL) != 0 ||
	    is_rest(directory, &removed.is_rest, NULL) < 0)
		return false;
	(void)store_load_from(store, base, directory, &removed.instance, NULL, &removed.error);
	removed.name = xstrdup(name);
	removed.base = xstrdup(base);
	*ret = removed;
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct removed *)a)->name, ((const struct removed *)b)->name);
}

int trash_list(struct store *store, struct trash *ret, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_strvec struct strvec names = { 0 };
	struct trash trash = { 0 };
	int r = open_trash(store, false, &directory, err);
	if (r < 0 || (r == 0 && fs_list(directory, &names, err) < 0))
		return -1;
	trash.items = xcalloc(names.count + 1, sizeof(*trash.items));
	for (size_t i = 0; i < names.count; i++)
		trash.count += read_removed(store, directory, names.items[i],
					    &trash.items[trash.count]);
	qsort(trash.items, trash.count, sizeof(*trash.items), compare_names);
	*ret = trash;
	return 0;
}

/* So that no moment has two sessions of one title. */
static int save_title(struct store *store, int trash, struct removed *removed, const char *title,
		      struct error *err)
{
	cleanup_close int directory = -1;
	int r = fs_open_private_directory_at(trash, removed->name, false, &directory, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is not in the trash any more",
				 removed->base);
	replace_string(&removed->instance->title, title);
	return r < 0 ? -1 : store_write_manifest(store, removed->instance, directory, err);
}

static int move_back(const struct store *store, int trash, const struct removed *removed,
		     struct error *err)
{
	struct stat st;
	if (fstatat(store->directory, removed->base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_EXISTS, "%s/%s exists already", store->path,
				 removed->base);
	if (renameat(trash, removed->name, store->directory, removed->base) < 0)
		return error_set_file(err, errno, "bring back %s/%s", store->path, removed->base);
	if (fs_flush(store->directory) < 0 || fs_flush(trash) < 0) {
		error_set_file(err, errno, "sync %s", store->path);
		(void)renameat(store->directory, removed->base, trash, removed->name);
		return -1;
	}
	return 0;
}

int trash_restore(struct store_profile_lock *lock, struct removed *removed, const char *title,
		  struct error *err)
{
	struct store *store = lock->store;
	cleanup_close int trash = -1;
	cleanup_fs_lock struct fs_lock held = FS_UNLOCKED;
	cleanup_free char *lock_file = store_lock_name(removed->base);
	int r = open_trash(store, false, &trash, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "the trash is gone");
	if (r < 0 ||
	    (title && removed->instance && save_title(store, trash, removed, title, err) < 0))
		return -1;
	/* The lock file first: a full disk must not prevent the lock of an instance. */
	r = fs_lock(store->directory, lock_file, clock_ms() + LOCK_TIMEOUT_MS, &held, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY, "%s/%s is held by another agentdeck: try again",
				 store->path, lock_file);
	if (r < 0)
		return error_prefix(err, "%s", store->path);
	if (move_back(store, trash, removed, err) < 0) {
		struct stat st;
		if (fstatat(store->directory, removed->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
			(void)unlinkat(store->directory, lock_file, 0);
		return -1;
	}
	return 0;
}

static int delete_file(const struct store *store, int directory, const char *name,
		       struct error *err)
{
	if (unlinkat(directory, name, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/" TRASH "/.../%s", store->path, name);
	return 0;
}

int trash_delete(struct store_profile_lock *lock, const struct removed *removed, struct error *err)
{
	const struct store *store = lock->store;
	cleanup_close int trash = -1, directory = -1;
	cleanup_strvec struct strvec names = { 0 };
	int r = open_trash(store, false, &trash, err);
	if (r == 0)
		r = fs_open_private_directory_at(trash, removed->name, false, &directory, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (fs_list(directory, &names, err) < 0)
		return -1;
	r = check_ours(store, directory, &names, err);
	if (r != 0)
		return r;
	/* The manifest last: until then it can come back. */
	for (size_t i = 0; i < names.count; i++)
		if (!streq(names.items[i], STORE_MANIFEST) &&
		    delete_file(store, directory, names.items[i], err) < 0)
			return -1;
	if (delete_file(store, directory, STORE_MANIFEST, err) < 0)
		return -1;
	if (unlinkat(trash, removed->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/" TRASH "/%s", store->path,
				      removed->name);
	(void)fs_flush(trash);
	return 0;
}
