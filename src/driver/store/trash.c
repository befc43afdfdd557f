/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/trash.h"

#include "base/clock.h"
#include "driver/store/store-internal.h"
#include "model/settings/paths.h"

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

/* The time in the name of what was removed; 0: it is nothing of ours. */
static int64_t time_of(const char *name)
{
	if (strlen(name) <= TIME_LENGTH + 1 || name[TIME_LENGTH] != '-' ||
	    !store_is_base(name + TIME_LENGTH + 1))
		return 0;
	cleanup_free char *time = xstrndup(name, TIME_LENGTH);
	const int64_t at = clock_parse(time);
	return at > 0 ? at : 0;
}

/* After all that were removed before, also within a millisecond or with the clock set back: undo
 * restores the last one. */
static char *new_name(int trash, const char *base)
{
	char time[CLOCK_TEXT_SIZE];
	cleanup_strvec struct strvec names = { 0 };
	int64_t now = clock_wall_us();
	(void)fs_list(trash, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		const int64_t at = time_of(names.items[i]);
		if (at / 1000 >= now / 1000)
			now = at + 1000;
	}
	return xasprintf("%s-%s", clock_format(now, time), base);
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

/* The directories of a session in a container, which no other session uses. */
static bool is_of_container(const struct instance *instance, const char *name)
{
	return instance && instance_has_home(instance) &&
	       (streq(name, PATHS_CAPSULE_DIRECTORY) || streq(name, PATHS_HOME_DIRECTORY) ||
		streq(name, PATHS_USERS_DIRECTORY) || streq(name, INSTANCE_ROOMS));
}

/* Is everything in this directory made by agentdeck?  TRASH_KEPT: no, but *ret, borrowed. */
static int check_ours(int directory, const struct instance *instance, const struct strvec *names,
		      const char **ret, struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		struct stat st;
		const bool is_tree = is_of_container(instance, name);
		*ret = name;
		if (!is_tree && !is_manifest(name) && !starts_with(name, FS_TEMPORARY_PREFIX))
			return TRASH_KEPT;
		if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_set_file(err, errno, "stat %s", name);
		if (is_tree ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
			return TRASH_KEPT;
	}
	return 0;
}

/* In the trash it has the title that it was removed with. */
static void take_removed_title(struct removed *removed)
{
	struct instance *instance = removed->instance;
	if (!instance || !instance->removed_title)
		return;
	free(instance->title);
	instance->title = TAKE_PTR(instance->removed_title);
	removed->is_retitled = true;
}

/* Returns false if it is nothing of ours. */
static bool read_removed(struct store *store, int trash, const char *name, struct removed *ret)
{
	cleanup_close int directory = -1;
	struct removed removed = { .removed_at = time_of(name) };
	if (!removed.removed_at)
		return false;
	const char *base = name + TIME_LENGTH + 1;
	if (fs_open_private_directory_at(trash, name, false, &directory, NULL) != 0 ||
	    is_rest(directory, &removed.is_rest, NULL) < 0)
		return false;
	(void)store_load_from(store, base, directory, &removed.instance, NULL, &removed.error);
	take_removed_title(&removed);
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

int trash_bases(const struct store *store, struct strvec *ret, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_strvec struct strvec names = { 0 };
	int r = open_trash(store, false, &directory, err);
	if (r < 0 || (r == 0 && fs_list(directory, &names, err) < 0))
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (time_of(names.items[i]))
			strvec_push(ret, names.items[i] + TIME_LENGTH + 1);
	return 0;
}

int trash_has(const struct store_profile_lock *lock, const struct removed *removed, bool *ret,
	      struct error *err)
{
	cleanup_close int trash = -1;
	struct stat st;
	int r = open_trash(lock->store, false, &trash, err);
	if (r < 0)
		return -1;
	if (r == 0 && fstatat(trash, removed->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return error_set_file(err, errno, "stat %s/" TRASH "/%s", lock->store->path,
					      removed->name);
		r = 1;
	}
	*ret = r == 0;
	return 0;
}

static int save(struct store *store, int trash, const struct removed *removed, struct error *err)
{
	cleanup_close int directory = -1;
	int r = fs_open_private_directory_at(trash, removed->name, false, &directory, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is not in the trash any more",
				 removed->base);
	return r < 0 ? -1 : store_write_manifest(store, removed->instance, directory, err);
}

int trash_save(struct store_profile_lock *lock, const struct removed *removed, struct error *err)
{
	cleanup_close int trash = -1;
	int r = open_trash(lock->store, false, &trash, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "the trash is gone");
	return r < 0 ? -1 : save(lock->store, trash, removed, err);
}

/* Before it is moved, so that no moment has two sessions of one title. */
static int save_title(struct store *store, int trash, struct removed *removed, const char *title,
		      struct error *err)
{
	struct instance *instance = removed->instance;
	cleanup_free char *before = TAKE_PTR(instance->title);
	instance->title = xstrdup(title);
	if (!streq(before, title))
		replace_string(&instance->removed_title, before);
	int r = save(store, trash, removed, err);
	replace_string(&instance->removed_title, NULL);
	return r;
}

/* The session is back with its title.  If this write fails, the next manifest drops the field. */
static void drop_removed_title(struct store *store, const struct removed *removed)
{
	cleanup_close int directory = -1;
	if (fs_open_private_directory_at(store->directory, removed->base, false, &directory,
					 NULL) == 0)
		(void)store_write_manifest(store, removed->instance, directory, NULL);
}

static int move_back(const struct store *store, int trash, const struct removed *removed,
		     struct error *err)
{
	struct stat st;
	if (fstatat(store->directory, removed->base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_EXISTS, "%s/%s exists already", store->path,
				 removed->base);
	if (renameat(trash, removed->name, store->directory, removed->base) < 0)
		return error_set_file(err, errno, "restore %s/%s", store->path, removed->base);
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
	if (r < 0)
		return -1;
	cleanup_free char *wanted = title                  ? xstrdup(title)
				    : removed->is_retitled ? xstrdup(removed->instance->title)
							   : NULL;
	const bool is_new = wanted && removed->instance;
	if (is_new && save_title(store, trash, removed, wanted, err) < 0)
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
	if (is_new)
		drop_removed_title(store, removed);
	return 0;
}

static int delete_file(const struct store *store, int directory, const char *name,
		       struct error *err)
{
	if (unlinkat(directory, name, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/" TRASH "/.../%s", store->path, name);
	return 0;
}

int trash_check(const struct store_lock *lock, const struct instance *instance, char **ret,
		struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	const char *foreign = NULL;
	int r = fs_list(lock->directory, &names, err);
	if (r == 0)
		r = check_ours(lock->directory, instance, &names, &foreign, err);
	if (r < 0)
		return error_prefix(err, "%s/%s", lock->store->path, lock->base);
	if (r == TRASH_KEPT)
		*ret = xstrdup(foreign);
	return r;
}

int trash_delete(struct store_profile_lock *lock, const struct removed *removed, struct error *err)
{
	const struct store *store = lock->store;
	cleanup_close int trash = -1, directory = -1;
	cleanup_strvec struct strvec names = { 0 };
	const char *foreign;
	int r = open_trash(store, false, &trash, err);
	if (r == 0)
		r = fs_open_private_directory_at(trash, removed->name, false, &directory, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (fs_list(directory, &names, err) < 0)
		return -1;
	r = check_ours(directory, removed->instance, &names, &foreign, err);
	if (r != 0)
		return r < 0 ? error_prefix(err, "%s/" TRASH "/%s", store->path, removed->name) : r;
	/* The manifest last: until then it can come back. */
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		if (streq(name, STORE_MANIFEST))
			continue;
		if ((is_of_container(removed->instance, name)
			     ? fs_remove_tree(directory, name, err)
			     : delete_file(store, directory, name, err)) < 0)
			return -1;
	}
	if (delete_file(store, directory, STORE_MANIFEST, err) < 0)
		return -1;
	if (unlinkat(trash, removed->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/" TRASH "/%s", store->path,
				      removed->name);
	(void)fs_flush(trash);
	return 0;
}
