/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by the tests of the store: a store in a scratch directory, and instances to put into it.
 */
#pragma once

#include "unit/test.h"

#include "base/clock.h"
#include "driver/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

enum { LONG_MS = 60000 };

struct fixture {
	char *root;
	struct store *store;
};

static inline struct fixture *fixture_open(void)
{
	const char *temporary = getenv("TMPDIR");
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	fixture->root = xasprintf("%s/agentdeck-store-XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(fixture->root) ||
	    store_open(fixture->root, "default", &fixture->store, NULL) != 0)
		abort();
	return fixture;
}

static inline int fixture_close(struct fixture *fixture)
{
	store_close(fixture->store);
	int r = fs_remove_tree(AT_FDCWD, fixture->root, NULL);
	free(fixture->root);
	free(fixture);
	return r;
}

static inline int fixture_setup(void **state)
{
	*state = fixture_open();
	return 0;
}

static inline int fixture_teardown(void **state)
{
	return fixture_close(*state);
}

#define STORE_TEST(function) \
	cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

/* An instance with required values only. */
static inline struct instance *new_instance(const char *id, const char *title)
{
	struct instance *instance = instance_new();
	instance->id = xstrdup(id);
	instance->base = xstrdup(id);
	instance->profile = xstrdup("default");
	instance->title = xstrdup(title);
	instance->cwd = xstrdup("/srv");
	instance->agent = xstrdup("claude");
	instance->backend = xstrdup("host");
	instance->created_at = INT64_C(1776157681000000);
	strvec_push(&instance->argv, "claude");
	return instance;
}

static inline int create_instance(struct store *store, const struct instance *instance,
				  struct error *err)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	if (store_lock_profile(store, clock_ms() + LONG_MS, &lock, err) != 0)
		return -1;
	return store_create(lock, instance, NULL, err);
}

static inline void make(struct store *store, const char *id, const char *title)
{
	cleanup_instance struct instance *instance = new_instance(id, title);
	struct error err = { 0 };
	if (create_instance(store, instance, &err) != 0)
		fail_msg("create %s: %s", id, err.message ? err.message : "the profile is locked");
}

static inline struct store_lock *lock_of(struct store *store, const char *base)
{
	struct store_lock *lock = NULL;
	assert_int_equal(store_lock(store, base, 0, &lock, NULL), 0);
	return lock;
}

static inline void rename_instance(struct store *store, const char *base, const char *title)
{
	cleanup_store_lock struct store_lock *lock = lock_of(store, base);
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	replace_string(&instance->title, title);
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

/* Take and release the profile's lock, which clears what crashes left. */
static inline void sweep(struct store *store)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	assert_int_equal(store_lock_profile(store, 0, &lock, NULL), 0);
}

static inline bool is_there(const struct store *store, const char *path)
{
	struct stat st;
	return fstatat(store_profile_directory(store), path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline char *manifest_of(const char *base)
{
	return xasprintf("%s/instance.json", base);
}

/* Contents of a file below the profile; the caller frees. */
static inline char *content(const struct store *store, const char *path)
{
	struct strbuf text = { 0 };
	if (fs_read(store_profile_directory(store), path, 64 << 20, &text, NULL) != 0)
		fail_msg("%s cannot be read", path);
	return strbuf_take(&text);
}

static inline void put_content(const struct store *store, const char *path, const char *text)
{
	cleanup_close int fd = openat(store_profile_directory(store), path,
				      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

/* The name under which base's damaged manifest was set aside; the caller frees.  Fails unless there
 * are count of them. */
static inline char *damaged_name(const struct store *store, const char *base, size_t count)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = openat(store_profile_directory(store), base,
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *found = NULL;
	size_t n = 0;
	assert_true(fd >= 0);
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++) {
		if (!starts_with(names.items[i], "instance.json.damaged-"))
			continue;
		n++;
		free(found);
		found = xasprintf("%s/%s", base, names.items[i]);
	}
	assert_int_equal(n, count);
	return found;
}

static inline const struct store_row *row_of(const struct store_rows *rows, const char *base)
{
	for (size_t i = 0; i < rows->count; i++)
		if (streq(rows->rows[i].base, base))
			return &rows->rows[i];
	fail_msg("there is no row of %s", base);
	abort();
}

/* Start a child that exits with the result of function(data). */
static inline pid_t start_child(int (*function)(void *data), void *data)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(function(data));
	return pid;
}

static inline int end_of_child(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
