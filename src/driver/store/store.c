/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/store.h"

#include "base/clock.h"
#include "driver/store/store-internal.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LOCK_SUFFIX    ".lock"
#define NEW_PREFIX     ".new-"
#define REMOVED_PREFIX ".removed-"

enum { BASE_MAX = 128, CREATE_LOCK_TIMEOUT_MS = 5000 };

bool store_is_base(const char *name)
{
	/* Not isalnum(3): names on disk must not depend on the locale. */
	static const bool is_allowed[256] = {
		['-'] = true,         ['.'] = true,         ['_'] = true,
		['0' ... '9'] = true, ['a' ... 'z'] = true, ['A' ... 'Z'] = true,
	};
	size_t length = 0;
	while (is_allowed[(unsigned char)name[length]])
		length++;
	return length > 0 && length <= BASE_MAX && !name[length] && !strchr("-._", *name) &&
	       !ends_with(name, LOCK_SUFFIX) && !starts_with(name, STORE_INDEX);
}

char *store_lock_name(const char *base)
{
	return xasprintf("%s" LOCK_SUFFIX, base);
}

/* --- the store -------------------------------------------------------------------------------- */

int store_open(const char *state, const char *profile, struct store **ret, struct error *err)
{
	cleanup_close int state_fd = -1, profile_fd = -1;
	if (naming_check_profile(profile, err) < 0)
		return -1;
	if (fs_open_private_directory(state, &state_fd, err) < 0)
		return -1;
	const bool is_new = faccessat(state_fd, profile, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
			    errno == ENOENT;
	if (fs_open_private_directory_at(state_fd, profile, true, &profile_fd, err) < 0)
		return error_prefix(err, "%s", state);
	struct store *store = xcalloc(1, sizeof(*store));
	store->is_new = is_new;
	store->state = TAKE_FD(state_fd);
	store->directory = TAKE_FD(profile_fd);
	store->profile = xstrdup(profile);
	store->path = path_join(state, profile);
	*ret = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	(void)close(store->directory);
	(void)close(store->state);
	free(store->profile);
	free(store->path);
	free(store->runtime);
	free(store->direct);
	free(store);
}

bool store_is_new(const struct store *store)
{
	return store->is_new;
}

int store_state_directory(const struct store *store)
{
	return store->state;
}

int store_profile_directory(const struct store *store)
{
	return store->directory;
}

const char *store_profile(const struct store *store)
{
	return store->profile;
}

/* --- the instance lock ------------------------------------------------------------------------ */

static int open_instance(struct store *store, const char *base, int *ret, struct error *err)
{
	if (!store_is_base(base))
		return STORE_ABSENT;
	cleanup_error struct error why = { 0 };
	struct stat st;
	int r = fs_open_private_directory_at(store->directory, base, false, ret, &why);
	if (r < 0 && fstatat(store->directory, base, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return error_set(err, ERROR_CORRUPT,
				 "%s/%s is a symbolic link, which is not followed: put the "
				 "directory itself there",
				 store->path, base);
	if (r < 0) {
		(void)error_move(err, &why);
		return error_prefix(err, "%s", store->path);
	}
	return r == FS_ABSENT ? STORE_ABSENT : 0;
}

static bool instance_exists(const struct store *store, const char *base)
{
	struct stat st;
	return fstatat(store->directory, base, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int store_lock(struct store *store, const char *base, int64_t deadline_ms, struct store_lock **ret,
	       struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_free char *name = store_lock_name(base);

	/* Check first, so that a name that never existed leaves no lock file. */
	if (!store_is_base(base) || !instance_exists(store, base))
		return STORE_ABSENT;
	int r = fs_lock(store->directory, name, deadline_ms, &lock, err);
	if (r < 0)
		return error_prefix(err, "%s", store->path);
	if (r == FS_LOCK_BUSY)
		return STORE_BUSY;
	r = open_instance(store, base, &directory, err);
	/* The session was removed while we waited.  The lock file is ours: remove it while we hold
	 * it. */
	if (r == STORE_ABSENT)
		(void)unlinkat(store->directory, name, 0);
	if (r != 0)
		return r;
	fs_sweep_temporaries(directory);
	struct store_lock *result = xcalloc(1, sizeof(*result));
	result->store = store;
	result->base = xstrdup(base);
	result->directory = TAKE_FD(directory);
	result->lock = lock;
	lock = FS_UNLOCKED;
	*ret = result;
	return 0;
}

void store_unlock(struct store_lock *lock)
{
	if (!lock)
		return;
	(void)close(lock->directory);
	fs_unlock(&lock->lock);
	free(lock->base);
	free(lock);
}

int store_lock_directory(const struct store_lock *lock)
{
	return lock->directory;
}

/* --- the profile lock, and what crashes left -------------------------------------------------- */

/* Take the lock of a base that may be no instance.  Returns false if another process holds it. */
static bool lock_remnant(struct store *store, const char *base, struct fs_lock *ret)
{
	cleanup_free char *name = store_lock_name(base);
	return fs_lock(store->directory, name, 0, ret, NULL) == 0;
}

static void unlock_remnant(struct store *store, const char *base, struct fs_lock *lock)
{
	cleanup_free char *name = store_lock_name(base);
	if (!instance_exists(store, base))
		(void)unlinkat(store->directory, name, 0);
	fs_unlock(lock);
}

/* Clear a directory that a crash left half made or half removed. */
static void clear_remnant(struct store *store, const char *name, const char *base)
{
	struct fs_lock lock = FS_UNLOCKED;
	if (!store_is_base(base) || !lock_remnant(store, base, &lock))
		return;
	(void)fs_remove_tree(store->directory, name, NULL);
	unlock_remnant(store, base, &lock);
}

/* Remove a directory without a manifest only if it holds nothing but temporary files. */
static void clear_empty(struct store *store, const char *base)
{
	struct fs_lock lock = FS_UNLOCKED;
	if (!lock_remnant(store, base, &lock))
		return;
	cleanup_close int directory = -1;
	if (open_instance(store, base, &directory, NULL) == 0) {
		fs_sweep_temporaries(directory);
		(void)unlinkat(store->directory, base, AT_REMOVEDIR);
	}
	unlock_remnant(store, base, &lock);
}

/* Whether the name is one of ours: an id, or what the container backend makes of one. */
static bool is_our_base(const char *name)
{
	return store_is_base(name) && (naming_is_id(name) || starts_with(name, "ad-"));
}

static bool has_no_manifest(struct store *store, const char *base)
{
	struct stat st;
	cleanup_free char *manifest = path_join(base, STORE_MANIFEST);
	return fstatat(store->directory, manifest, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_listed(const struct strvec *sorted, const char *name)
{
	return bsearch(&name, sorted->items, sorted->count, sizeof(*sorted->items), compare_names);
}

static void clear_one(struct store *store, const char *name, const struct strvec *sorted)
{
	struct fs_lock lock = FS_UNLOCKED;
	if (starts_with(name, NEW_PREFIX)) {
		clear_remnant(store, name, name + strlen(NEW_PREFIX));
	} else if (starts_with(name, REMOVED_PREFIX)) {
		clear_remnant(store, name, name + strlen(REMOVED_PREFIX));
	} else if (ends_with(name, LOCK_SUFFIX)) {
		cleanup_free char *base = xstrndup(name, strlen(name) - strlen(LOCK_SUFFIX));
		if (is_our_base(base) && !is_listed(sorted, base) &&
		    lock_remnant(store, base, &lock))
			unlock_remnant(store, base, &lock);
	} else if (is_our_base(name) && has_no_manifest(store, name)) {
		clear_empty(store, name);
	}
}

static void clear_remnants(struct store *store)
{
	cleanup_strvec struct strvec names = { 0 };
	fs_sweep_temporaries(store->directory);
	if (fs_list(store->directory, &names, NULL) < 0 || names.count == 0)
		return;
	qsort(names.items, names.count, sizeof(*names.items), compare_names);
	for (size_t i = 0; i < names.count; i++)
		clear_one(store, names.items[i], &names);
}

int store_lock_profile(struct store *store, int64_t deadline_ms, struct store_profile_lock **ret,
		       struct error *err)
{
	struct fs_lock lock = FS_UNLOCKED;
	int r = fs_lock(store->directory, STORE_PROFILE_LOCK, deadline_ms, &lock, err);
	if (r < 0)
		return error_prefix(err, "%s", store->path);
	if (r == FS_LOCK_BUSY)
		return STORE_BUSY;
	clear_remnants(store);
	struct store_profile_lock *result = xcalloc(1, sizeof(*result));
	result->store = store;
	result->lock = lock;
	store->profile_locked = true;
	*ret = result;
	return 0;
}

void store_unlock_profile(struct store_profile_lock *lock)
{
	if (!lock)
		return;
	lock->store->profile_locked = false;
	fs_unlock(&lock->lock);
	free(lock);
}

/* --- reading a manifest ----------------------------------------------------------------------- */

/* Latest name of a manifest that was set aside, or NULL.  The caller frees. */
static char *find_damaged(int directory)
{
	cleanup_strvec struct strvec names = { 0 };
	const char *latest = NULL;
	if (fs_list(directory, &names, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < names.count; i++)
		if (starts_with(names.items[i], STORE_DAMAGED) &&
		    (!latest || strcmp(names.items[i], latest) > 0))
			latest = names.items[i];
	return xstrdup_or_null(latest);
}

static int no_manifest(struct store *store, const char *base, int directory, struct error *err)
{
	cleanup_free char *damaged = find_damaged(directory);
	if (!damaged)
		return STORE_ABSENT;
	return error_set(
		err, ERROR_CORRUPT,
		"the manifest of %s is damaged and was set aside as %s/%s/%s: repair it and "
		"rename it to " STORE_MANIFEST ", or remove the session",
		base, store->path, base, damaged);
}

/* Adds what the user can do about a manifest that says nothing. */
static int advise(const char *base, struct error *why, struct error *err)
{
	if (why->code != ERROR_CORRUPT)
		return error_move(err, why);
	return error_set(err, ERROR_CORRUPT,
			 "%s: put a good one there, or remove the session with agentdeck remove %s",
			 why->message, base);
}

static int read_manifest(struct store *store, const char *base, int directory, struct strbuf *ret,
			 struct stat *ret_stat, struct error *err)
{
	cleanup_close int fd = fs_openat(directory, STORE_MANIFEST,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0 && errno == ENOENT)
		return no_manifest(store, base, directory, err);
	if (fd < 0 && errno == ELOOP)
		return error_set_file(err, ELOOP,
				      "%s/%s/" STORE_MANIFEST " is a symbolic link, which is not "
				      "followed: put the file itself there",
				      store->path, base);
	cleanup_free char *what = xasprintf("%s/%s/" STORE_MANIFEST, store->path, base);
	if (fd < 0)
		return error_set_file(err, errno, "open %s", what);
	if (fstat(fd, ret_stat) < 0)
		return error_set_file(err, errno, "stat %s", what);
	cleanup_error struct error why = { 0 };
	const int r = S_ISREG(ret_stat->st_mode)
			      ? fs_read_fd(fd, what, STORE_MANIFEST_MAX, ret, &why)
			      : error_set(&why, ERROR_CORRUPT, "%s is not a regular file", what);
	return r < 0 ? advise(base, &why, err) : 0;
}

/* A copied manifest has the state of the original when it was copied.  Its run is not ours to end
 * or to restart. */
static void leave_to_original(struct instance *instance)
{
	const char *directory = instance->run.directory;
	if (!instance->copy_of || (directory && streq(path_basename(directory), instance->base)))
		return;
	(void)state_apply(instance, EVENT_COPIED, NULL, NULL);
}

int store_load_from(struct store *store, const char *base, int directory, struct instance **ret,
		    struct stat *ret_stat, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error why = { 0 };
	struct stat st;

	int r = read_manifest(store, base, directory, &text, &st, err);
	if (r != 0)
		return r;
	cleanup_free char *what = xasprintf("%s/%s/" STORE_MANIFEST, store->path, base);
	if (json_parse(text.data, text.length, what, &object, &why) < 0 ||
	    instance_from_json(object, what, &instance, &why) < 0)
		return advise(base, &why, err);
	/* A copied directory must not become a second instance with the same conversation. */
	if (!streq(instance->base, base))
		return error_set(err, ERROR_CORRUPT,
				 "%s is the manifest of %s, in another directory: move it back, or "
				 "remove it",
				 what, instance->base);
	replace_string(&instance->profile, store->profile);
	leave_to_original(instance);
	store_settle_place(store, instance);
	if (ret_stat)
		*ret_stat = st;
	*ret = TAKE_PTR(instance);
	return 0;
}

/* Not from the trash: undo has brought it back, with its new title. */
static int load_session(struct store *store, const char *base, int directory, struct instance **ret,
			struct stat *ret_stat, struct error *err)
{
	int r = store_load_from(store, base, directory, ret, ret_stat, err);
	if (r == 0) {
		replace_string(&(*ret)->removed_title, NULL);
		replace_string(&(*ret)->removed_with, NULL);
	}
	return r;
}

int store_load_stat(struct store *store, const char *base, struct instance **ret,
		    struct stat *ret_stat, struct error *err)
{
	cleanup_close int directory = -1;
	int r = open_instance(store, base, &directory, err);
	if (r != 0)
		return r;
	return load_session(store, base, directory, ret, ret_stat, err);
}

int store_load(struct store *store, const char *base, struct instance **ret, struct error *err)
{
	return store_load_stat(store, base, ret, NULL, err);
}

/* Take a name that no earlier damage has, so that nothing set aside is ever overwritten. */
static int set_aside(struct store_lock *lock, struct error *err)
{
	char time[CLOCK_TEXT_SIZE];
	cleanup_free char *name = NULL;
	struct stat st;
	int64_t now = clock_wall_us();
	do {
		free(name);
		name = xasprintf(STORE_DAMAGED "%s", clock_format(now, time));
		now += 1000;
	} while (fstatat(lock->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	if (renameat(lock->directory, STORE_MANIFEST, lock->directory, name) < 0)
		return error_prefix(err, "not set aside (%s)", strerror(errno));
	(void)fs_flush(lock->directory);
	return error_prefix(
		err,
		"the manifest of %s is damaged and was set aside as %s/%s/%s (repair it and "
		"rename it to " STORE_MANIFEST ")",
		lock->base, lock->store->path, lock->base, name);
}

int store_load_locked(struct store_lock *lock, struct instance **ret, struct error *err)
{
	struct error local = { 0 };
	struct stat st;
	int r = load_session(lock->store, lock->base, lock->directory, ret, NULL, &local);
	/* Not a newer version's manifest, or one that merely cannot be read. */
	if (r < 0 && local.code == ERROR_CORRUPT &&
	    fstatat(lock->directory, STORE_MANIFEST, &st, AT_SYMLINK_NOFOLLOW) == 0)
		(void)set_aside(lock, &local);
	if (r < 0 && err)
		*err = local;
	else
		error_clear(&local);
	return r;
}

/* --- writing a manifest ----------------------------------------------------------------------- */

static int write_manifest(struct store *store, const struct instance *instance, int directory,
			  enum fs_sync sync, struct error *err)
{
	cleanup_json struct json_object *object = instance_to_json(instance);
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, json_print(object));
	if (!ends_with(text.data, "\n"))
		strbuf_adds(&text, "\n");
	/* A manifest that could not be read again must not replace one that can. */
	if (text.length > STORE_MANIFEST_MAX)
		return error_set(err, ERROR_INVALID,
				 "the manifest of %s would be larger than %d bytes: shorten its "
				 "command",
				 instance->base, STORE_MANIFEST_MAX);
	if (fs_replace(directory, STORE_MANIFEST, text.data, text.length, sync, err) < 0)
		return error_prefix(err, "%s/%s", store->path, instance->base);
	return 0;
}

int store_write_manifest(struct store *store, const struct instance *instance, int directory,
			 struct error *err)
{
	return write_manifest(store, instance, directory, FS_DURABLE, err);
}

int store_save(struct store_lock *lock, const struct instance *instance, struct error *err)
{
	if (!instance->base || !streq(instance->base, lock->base))
		return error_set(err, ERROR_INVALID, "the lock of %s is not that of %s", lock->base,
				 or_empty(instance->base));
	return store_write_manifest(lock->store, instance, lock->directory, err);
}

/* A directory with all that the instance has, under a name that clear_remnants() clears after a
 * crash. */
static int fill_new(struct store *store, const struct store_new *new, const char *name,
		    enum fs_sync sync, struct error *err)
{
	const struct store_filler *filler = new->filler;
	cleanup_close int directory = -1;
	if (mkdirat(store->directory, name, 0700) < 0)
		return error_set_file(err, errno, "make directory %s/%s", store->path, name);
	if (fs_open_private_directory_at(store->directory, name, false, &directory, err) < 0)
		return error_prefix(err, "%s", store->path);
	if (filler && filler->fill(directory, filler->data, err) < 0)
		return -1;
	return write_manifest(store, new->instance, directory, sync, err);
}

static void drop_new(struct store *store, const char *base)
{
	cleanup_free char *name = xasprintf(NEW_PREFIX "%s", base);
	cleanup_free char *lock_file = store_lock_name(base);
	(void)fs_remove_tree(store->directory, name, NULL);
	(void)unlinkat(store->directory, lock_file, 0);
}

/* All but its appearance.  *held: its lock, the caller's. */
static int prepare_new(struct store *store, const struct store_new *new, enum fs_sync sync,
		       struct fs_lock *held, struct error *err)
{
	const char *base = or_empty(new->instance->base);
	if (!store_is_base(base))
		return error_set(err, ERROR_INVALID, "\"%s\" cannot name an instance's directory",
				 base);
	cleanup_free char *name = xasprintf(NEW_PREFIX "%s", base);
	cleanup_free char *lock_file = store_lock_name(base);
	/* A directory with the name of a new one is another instance of this call. */
	if (instance_exists(store, base) || instance_exists(store, name))
		return error_set(err, ERROR_EXISTS, "%s/%s already exists", store->path, base);
	/* The lock file first: a full disk must not prevent the lock of an instance. */
	int64_t deadline_ms = clock_ms() + CREATE_LOCK_TIMEOUT_MS;
	int r = fs_lock(store->directory, lock_file, deadline_ms, held, err);
	if (r < 0)
		return error_prefix(err, "%s", store->path);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "another agentdeck is using %s/%s: try again",
				 store->path, lock_file);
	if (fill_new(store, new, name, sync, err) < 0) {
		drop_new(store, base);
		return -1;
	}
	return 0;
}

/* What fill_new() has left to do.  Later, as one commit of the file system's journal then has many
 * of them. */
static int flush_new(struct store *store, const char *base, struct error *err)
{
	cleanup_close int directory = -1, manifest = -1;
	cleanup_free char *name = xasprintf(NEW_PREFIX "%s", base);
	directory = fs_openat(store->directory, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (directory >= 0)
		manifest = fs_openat(directory, STORE_MANIFEST, O_RDONLY | O_NOFOLLOW | O_CLOEXEC,
				     0);
	if (manifest < 0 || fs_flush(manifest) < 0 || fs_flush(directory) < 0)
		return error_set_file(err, errno, "sync %s/%s", store->path, name);
	return 0;
}

/* The name cannot have been created since we looked: we hold the profile's lock. */
static int show_new(struct store *store, const char *base, struct error *err)
{
	cleanup_free char *name = xasprintf(NEW_PREFIX "%s", base);
	if (renameat(store->directory, name, store->directory, base) < 0)
		return error_set_file(err, errno, "make directory %s/%s", store->path, base);
	return 0;
}

int store_create(struct store_profile_lock *lock, const struct instance *instance,
		 const struct store_filler *filler, struct error *err)
{
	struct store *store = lock->store;
	const struct store_new new = { instance, filler };
	cleanup_fs_lock struct fs_lock held = FS_UNLOCKED;
	if (prepare_new(store, &new, FS_DURABLE, &held, err) < 0)
		return -1;
	if (show_new(store, instance->base, err) < 0) {
		drop_new(store, instance->base);
		return -1;
	}
	if (fs_flush(store->directory) < 0) {
		cleanup_free char *name = xasprintf(NEW_PREFIX "%s", instance->base);
		error_set_file(err, errno, "sync %s", store->path);
		(void)renameat(store->directory, instance->base, store->directory, name);
		drop_new(store, instance->base);
		return -1;
	}
	return 0;
}

int store_create_many(struct store_profile_lock *lock, const struct store_new *new, size_t count,
		      size_t *made, struct error *err)
{
	struct store *store = lock->store;
	size_t prepared = 0;
	int r = 0;
	*made = 0;
	for (; r == 0 && prepared < count; prepared += r == 0) {
		/* Not held: no process knows the instance yet, and thousands of locks are too many
		 * files. */
		cleanup_fs_lock struct fs_lock held = FS_UNLOCKED;
		r = prepare_new(store, &new[prepared], FS_VOLATILE, &held, err);
	}
	for (size_t i = 0; r == 0 && i < count; i++)
		r = flush_new(store, new[i].instance->base, err);
	for (; r == 0 && *made < count; *made += r == 0)
		r = show_new(store, new[*made].instance->base, err);
	for (size_t i = *made; r < 0 && i < prepared; i++)
		drop_new(store, new[i].instance->base);
	if (r == 0 && fs_flush(store->directory) < 0)
		r = error_set_file(err, errno, "sync %s", store->path);
	return r;
}

int store_remove(struct store_lock *lock, struct error *err)
{
	cleanup_store_lock struct store_lock *held = lock;
	struct store *store = held->store;
	cleanup_free char *removed = xasprintf(REMOVED_PREFIX "%s", held->base);
	cleanup_free char *lock_file = store_lock_name(held->base);

	if (fs_remove_tree(store->directory, removed, err) < 0)
		return error_prefix(err, "%s", store->path);
	if (renameat(store->directory, held->base, store->directory, removed) < 0)
		return error_set_file(err, errno, "remove %s/%s", store->path, held->base);
	if (fs_flush(store->directory) < 0) {
		error_set_file(err, errno, "sync %s", store->path);
		(void)renameat(store->directory, removed, store->directory, held->base);
		return -1;
	}
	/* The instance is gone from here on.  What remains is cleared as a remnant later. */
	(void)fs_remove_tree(store->directory, removed, NULL);
	(void)unlinkat(store->directory, lock_file, 0);
	return 0;
}
