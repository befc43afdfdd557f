/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "driver/store/store-watch.h"

#include <poll.h>

#define ONE "aaaa0001"
#define TWO "aaaa0002"

static void assert_says(const struct error *err, enum error_code code, const char *part)
{
	assert_int_equal(err->code, code);
	if (!strstr(err->message, part))
		fail_msg("\"%s\" does not say \"%s\"", err->message, part);
}

static void assert_mode(const struct store *store, const char *path, mode_t mode)
{
	struct stat st;
	int directory = store_profile_directory(store);
	assert_int_equal(fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void directories_that_others_can_write_are_refused(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_store struct store *store = NULL;
	cleanup_free char *root = path_join(fixture->root, "open");
	assert_int_equal(mkdir(root, 0700), 0);
	assert_int_equal(chmod(root, 0770), 0);
	assert_int_equal(store_open(root, "default", &store, &err), -1);
	assert_null(store);
	assert_says(&err, ERROR_SYSTEM, "chmod 700");
}

static void directories_of_others_are_refused(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_store struct store *store = NULL;
	if (geteuid() != 0)
		skip();
	cleanup_free char *root = path_join(fixture->root, "foreign");
	assert_int_equal(mkdir(root, 0700), 0);
	assert_int_equal(chown(root, 65534, 65534), 0);
	assert_int_equal(store_open(root, "default", &store, &err), -1);
	assert_says(&err, ERROR_SYSTEM, "belongs to user 65534");
}

static void profiles_are_names_not_paths(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store struct store *store = NULL;
	assert_int_equal(store_open(fixture->root, "../elsewhere", &store, NULL), -1);
	assert_int_equal(store_open(fixture->root, "", &store, NULL), -1);
	assert_int_equal(store_open(fixture->root, "logs", &store, NULL), -1);
}

static void profiles_are_apart(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store struct store *other = NULL;
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_open(fixture->root, "other", &other, NULL), 0);
	assert_string_equal(store_profile(other), "other");
	make(fixture->store, ONE, "one");
	assert_int_equal(store_load(other, ONE, &instance, NULL), STORE_ABSENT);
	make(other, ONE, "one");
}

/* --- creating, loading, saving ---------------------------------------------------------------- */

static void what_was_created_is_loaded(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), 0);
	assert_string_equal(instance->title, "one");
	assert_string_equal(instance->base, ONE);
	assert_string_equal(instance->profile, "default");
	assert_mode(fixture->store, ONE, 0700);
	assert_mode(fixture->store, ONE "/instance.json", 0600);
	assert_mode(fixture->store, ONE ".lock", 0600);
}

static void a_base_is_given_once(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *again = new_instance(ONE, "another");
	cleanup_instance struct instance *loaded = NULL;
	make(fixture->store, ONE, "one");
	assert_int_equal(create_instance(fixture->store, again, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	assert_int_equal(store_load(fixture->store, ONE, &loaded, NULL), 0);
	assert_string_equal(loaded->title, "one");
}

static void names_that_are_no_base_are_refused(void **state)
{
	const struct fixture *fixture = *state;
	static const char *const bad[] = { "",
					   "..",
					   ".hidden",
					   "a/b",
					   "a.lock",
					   "a b",
					   "instances.json",
					   "-x",
					   "\xc3\xa4",
					   "instances.json.lock" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_instance struct instance *instance = new_instance(ONE, "one");
		struct instance *loaded = NULL;
		struct store_lock *lock = NULL;
		replace_string(&instance->base, bad[i]);
		assert_int_equal(create_instance(fixture->store, instance, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_int_equal(store_load(fixture->store, bad[i], &loaded, NULL), STORE_ABSENT);
		assert_int_equal(store_lock(fixture->store, bad[i], 0, &lock, NULL), STORE_ABSENT);
	}
}

static void container_names_are_bases_too(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = new_instance(ONE, "one"), *loaded = NULL;
	replace_string(&instance->base, "ad-" ONE "-My.work_space-agent");
	replace_string(&instance->backend, "container");
	struct recipe *recipe = instance->recipe = recipe_new();
	char **const needed[] = { &recipe->engine, &recipe->address, &recipe->image_id,
				  &recipe->user,   &recipe->home,    &recipe->directory };
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		*needed[i] = xstrdup("/x");
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	assert_int_equal(store_load(fixture->store, instance->base, &loaded, NULL), 0);
	assert_string_equal(loaded->id, ONE);
}

static void a_copy_goes_by_its_directory_and_leaves_the_run_to_its_original(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = new_instance(ONE, "one"), *loaded = NULL,
					 *again = NULL;
	replace_string(&instance->base, "copy1");
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run-1");
	instance->run.socket = xstrdup("/run/" ONE "/tmux.sock");
	instance->run.directory = xstrdup("/run/" ONE);
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	assert_int_equal(store_load(fixture->store, "copy1", &loaded, NULL), 0);
	assert_string_equal(loaded->id, "copy1");
	assert_string_equal(loaded->copy_of, ONE);
	assert_null(loaded->run.socket);
	assert_int_equal(loaded->desired, DESIRED_STOPPED);
	assert_int_equal(loaded->observed.state, STATE_STOPPED);
	/* A run of its own belongs to the copy. */
	loaded->desired = DESIRED_RUNNING;
	loaded->run.socket = xstrdup("/run/copy1/tmux.sock");
	loaded->run.directory = xstrdup("/run/copy1");
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, "copy1");
	assert_int_equal(store_save(lock, loaded, NULL), 0);
	assert_int_equal(store_load(fixture->store, "copy1", &again, NULL), 0);
	assert_string_equal(again->copy_of, ONE);
	assert_string_equal(again->run.socket, "/run/copy1/tmux.sock");
	assert_int_equal(again->desired, DESIRED_RUNNING);
}

static void what_was_saved_is_loaded(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	rename_instance(fixture->store, ONE, "renamed");
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), 0);
	assert_string_equal(instance->title, "renamed");
	assert_mode(fixture->store, ONE "/instance.json", 0600);
}

static void a_lock_saves_no_other_instance(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *other = new_instance(TWO, "two");
	make(fixture->store, ONE, "one");
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_save(lock, other, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
}

static void what_could_not_be_read_again_is_not_saved(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = NULL, *after = NULL;
	make(fixture->store, ONE, "one");
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	cleanup_free char *huge = xcalloc(5 << 20, 1);
	memset(huge, 'x', (5 << 20) - 1);
	strvec_push(&instance->argv, huge);
	assert_int_equal(store_save(lock, instance, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(store_load(fixture->store, ONE, &after, NULL), 0);
	assert_int_equal(after->argv.count, 1);
}

static void unknown_keys_survive_a_save(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	cleanup_free char *before = content(fixture->store, ONE "/instance.json");
	cleanup_free char *with = xasprintf("{\"x-kept\":{\"deep\":[1]},%s", before + 1);
	put_content(fixture->store, ONE "/instance.json", with);
	rename_instance(fixture->store, ONE, "renamed");
	cleanup_free char *after = content(fixture->store, ONE "/instance.json");
	assert_non_null(strstr(after, "\"x-kept\""));
	assert_non_null(strstr(after, "\"deep\""));
	assert_non_null(strstr(after, "\"renamed\""));
}

static void what_is_not_there_is_absent(void **state)
{
	const struct fixture *fixture = *state;
	struct instance *instance = NULL;
	struct store_lock *lock = NULL;
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), STORE_ABSENT);
	assert_int_equal(store_lock(fixture->store, ONE, 0, &lock, NULL), STORE_ABSENT);
	assert_null(instance);
	assert_null(lock);
	assert_false(is_there(fixture->store, ONE ".lock"));
}

/* --- locking and removing --------------------------------------------------------------------- */

static void a_lock_is_held_by_one(void **state)
{
	const struct fixture *fixture = *state;
	struct store_lock *second = NULL;
	struct store_profile_lock *profile = NULL;
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_lock(fixture->store, ONE, 0, &second, NULL), STORE_BUSY);
	assert_null(second);
	store_unlock(lock_of(fixture->store, TWO));
	store_unlock(lock);
	store_unlock(lock_of(fixture->store, ONE));

	assert_int_equal(store_lock_profile(fixture->store, 0, &profile, NULL), 0);
	struct store_profile_lock *other = NULL;
	assert_int_equal(store_lock_profile(fixture->store, 0, &other, NULL), STORE_BUSY);
	store_unlock_profile(profile);
	sweep(fixture->store);
}

static void locking_sweeps_temporaries(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/.tmp-0123", "torn");
	put_content(fixture->store, ONE "/kept", "");
	store_unlock(lock_of(fixture->store, ONE));
	assert_false(is_there(fixture->store, ONE "/.tmp-0123"));
	assert_true(is_there(fixture->store, ONE "/kept"));
}

static void what_was_removed_leaves_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct instance *instance = NULL;
	struct store_lock *lock = NULL;
	cleanup_strvec struct strvec names = { 0 };
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/more", "");
	assert_int_equal(store_remove(lock_of(fixture->store, ONE), NULL), 0);
	assert_int_equal(store_load(fixture->store, ONE, &instance, NULL), STORE_ABSENT);
	assert_int_equal(store_lock(fixture->store, ONE, 0, &lock, NULL), STORE_ABSENT);
	assert_int_equal(fs_list(store_profile_directory(fixture->store), &names, NULL), 0);
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "instances.json.lock");
	make(fixture->store, ONE, "again");
}

struct waiter {
	struct store *store;
	int go; /* can be read once the lock is held */
};

static int wait_for_lock(void *data)
{
	struct waiter *waiter = data;
	struct store_lock *lock = NULL;
	char byte;
	if (read(waiter->go, &byte, 1) != 1)
		return 99;
	int r = store_lock(waiter->store, ONE, clock_ms() + LONG_MS, &lock, NULL);
	return r == 0 ? 98 : r;
}

/* Wait until the process has opened the lock file, which it does while it waits for it. */
static void await_waiting(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd", (int)pid);
	cleanup_close int fds = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fds >= 0);
	for (;;) {
		cleanup_strvec struct strvec names = { 0 };
		assert_int_equal(fs_list(fds, &names, NULL), 0);
		for (size_t i = 0; i < names.count; i++) {
			char target[4096];
			ssize_t n = readlinkat(fds, names.items[i], target, sizeof(target) - 1);
			if (n < 0)
				continue;
			target[n] = '\0';
			if (ends_with(target, "/" ONE ".lock"))
				return;
		}
		(void)poll(NULL, 0, 1);
	}
}

static void who_waits_for_what_is_removed_finds_it_absent(void **state)
{
	const struct fixture *fixture = *state;
	int ends[2];
	make(fixture->store, ONE, "one");
	assert_int_equal(pipe(ends), 0);
	/* Fork before the lock is taken: a child shares its parent's locks. */
	struct waiter waiter = { .store = fixture->store, .go = ends[0] };
	pid_t child = start_child(wait_for_lock, &waiter);
	struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(write(ends[1], "", 1), 1);
	await_waiting(child);
	assert_int_equal(store_remove(lock, NULL), 0);
	assert_int_equal(end_of_child(child), STORE_ABSENT);
	assert_false(is_there(fixture->store, ONE ".lock"));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* --- what cannot be used ---------------------------------------------------------------------- */

static const char *const damages[] = {
	"",
	"{",
	"not json",
	"{}",
	"[]",
	"{\"format\":1}",
	"{\"format\":1,\"id\":\"aaaa0001\",\"title\":\"a\xff\"}",
};

static void a_damaged_manifest_is_set_aside_by_its_lock_only(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		cleanup_error struct error err = { 0 }, locked_err = { 0 }, later_err = { 0 };
		struct instance *instance = NULL;
		put_content(fixture->store, ONE "/instance.json", damages[i]);
		assert_int_equal(store_load(fixture->store, ONE, &instance, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		free(damaged_name(fixture->store, ONE, i));

		cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, ONE);
		assert_int_equal(store_load_locked(lock, &instance, &locked_err), -1);
		free(damaged_name(fixture->store, ONE, i + 1));
		assert_says(&locked_err, ERROR_CORRUPT, "instance.json.damaged-");
		assert_false(is_there(fixture->store, ONE "/instance.json"));

		assert_int_equal(store_load_locked(lock, &instance, &later_err), -1);
		assert_says(&later_err, ERROR_CORRUPT, "instance.json.damaged-");
		free(damaged_name(fixture->store, ONE, i + 1));
		assert_null(instance);
	}
}

static void what_is_set_aside_is_kept_whole(void **state)
{
	const struct fixture *fixture = *state;
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", "precious {");
	struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, NULL), -1);
	cleanup_free char *name = damaged_name(fixture->store, ONE, 1);
	store_unlock(lock);
	sweep(fixture->store);
	store_unlock(lock_of(fixture->store, ONE));
	cleanup_free char *kept = content(fixture->store, name);
	assert_string_equal(kept, "precious {");
}

static void a_damaged_instance_keeps_its_name_and_can_be_removed(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *again = new_instance(ONE, "again");
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", "{");
	struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, NULL), -1);
	assert_int_equal(create_instance(fixture->store, again, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	assert_int_equal(store_remove(lock, NULL), 0);
	assert_int_equal(create_instance(fixture->store, again, NULL), 0);
}

static void a_manifest_that_was_too_large_is_damaged(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	cleanup_free char *huge = xcalloc((4 << 20) + 2, 1);
	memset(huge, ' ', (4 << 20) + 1);
	put_content(fixture->store, ONE "/instance.json", huge);
	assert_int_equal(store_load(fixture->store, ONE, &instance, &err), -1);
	assert_says(&err, ERROR_CORRUPT, "larger than");
}

static void a_newer_manifest_is_refused_and_left_alone(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 }, locked_err = { 0 };
	struct instance *instance = NULL;
	static const char newer[] = "{\"format\":3,\"shape\":\"another\"}";
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", newer);
	assert_int_equal(store_load(fixture->store, ONE, &instance, &err), -1);
	assert_int_equal(err.code, ERROR_NEWER);
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, &locked_err), -1);
	assert_int_equal(locked_err.code, ERROR_NEWER);
	cleanup_free char *after = content(fixture->store, ONE "/instance.json");
	assert_string_equal(after, newer);
}

static void links_are_not_followed(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 }, directory_err = { 0 };
	struct instance *instance = NULL;
	int directory = store_profile_directory(fixture->store);
	make(fixture->store, ONE, "one");
	assert_int_equal(renameat(directory, ONE "/instance.json", directory, "elsewhere"), 0);
	assert_int_equal(symlinkat("../elsewhere", directory, ONE "/instance.json"), 0);
	cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, &err), -1);
	assert_says(&err, ERROR_SYSTEM, "symbolic link");
	assert_true(is_there(fixture->store, ONE "/instance.json"));

	assert_int_equal(symlinkat(ONE, directory, TWO), 0);
	assert_int_equal(store_load(fixture->store, TWO, &instance, &directory_err), -1);
	assert_null(instance);
}

static void a_pipe_in_the_place_of_a_manifest_does_not_hang(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	struct instance *instance = NULL;
	int directory = store_profile_directory(fixture->store);
	make(fixture->store, ONE, "one");
	assert_int_equal(unlinkat(directory, ONE "/instance.json", 0), 0);
	assert_int_equal(mkfifoat(directory, ONE "/instance.json", 0600), 0);
	assert_int_equal(store_load(fixture->store, ONE, &instance, &err), -1);
	assert_says(&err, ERROR_CORRUPT, "not a regular file");
}

static void a_copied_directory_is_no_second_instance(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 };
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	cleanup_free char *text = content(fixture->store, ONE "/instance.json");
	assert_int_equal(mkdirat(store_profile_directory(fixture->store), TWO, 0700), 0);
	put_content(fixture->store, TWO "/instance.json", text);
	assert_int_equal(store_load(fixture->store, TWO, &instance, &err), -1);
	assert_says(&err, ERROR_CORRUPT, "is the manifest of " ONE);
}

/* --- watching --------------------------------------------------------------------------------- */

static struct store_watch *watch_of(struct store *store, const char *base, const char *directory)
{
	struct store_watch *watch = NULL;
	struct error err = { 0 };
	if (store_watch_open(store, base, directory, &watch, &err) != 0)
		fail_msg("%s", err.message);
	return watch;
}

static void a_watch_sees_each_change_of_the_manifest(void **state)
{
	const struct fixture *fixture = *state;
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	cleanup_store_watch struct store_watch *watch = watch_of(fixture->store, ONE, NULL);
	rename_instance(fixture->store, ONE, "renamed");
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);
	assert_int_equal(store_watch_wait(watch, 0, NULL), STORE_WATCH_TIMEOUT);

	put_content(fixture->store, ONE "/instance.json", "{");
	struct store_lock *lock = lock_of(fixture->store, ONE);
	assert_int_equal(store_load_locked(lock, &instance, NULL), -1);
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);

	assert_int_equal(store_remove(lock, NULL), 0);
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);
}

static int save_once(void *data)
{
	rename_instance(data, ONE, "renamed");
	return 0;
}

static void a_watch_wakes_who_waits(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	cleanup_store_watch struct store_watch *watch = watch_of(fixture->store, ONE, NULL);
	pid_t child = start_child(save_once, fixture->store);
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);
	assert_int_equal(end_of_child(child), 0);
}

static void a_watch_does_not_wake_for_others(void **state)
{
	const struct fixture *fixture = *state;
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	cleanup_store_watch struct store_watch *watch = watch_of(fixture->store, ONE, NULL);
	put_content(fixture->store, ONE "/.tmp-1", "");
	store_unlock(lock_of(fixture->store, ONE));
	rename_instance(fixture->store, TWO, "renamed");
	assert_int_equal(store_watch_wait(watch, 0, NULL), STORE_WATCH_TIMEOUT);
}

static void a_watch_looks_at_a_directory_too(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_free char *place = path_join(fixture->root, "place");
	assert_int_equal(mkdir(place, 0700), 0);
	make(fixture->store, ONE, "one");
	cleanup_store_watch struct store_watch *watch = watch_of(fixture->store, ONE, place);
	assert_int_equal(store_watch_wait(watch, 0, NULL), STORE_WATCH_TIMEOUT);
	put_content(fixture->store, "../place/new", "x");
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);
	rename_instance(fixture->store, ONE, "renamed");
	assert_int_equal(store_watch_wait(watch, clock_ms() + LONG_MS, NULL), 0);
}

static void nothing_can_be_watched(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_error struct error err = { 0 }, base_err = { 0 }, directory_err = { 0 };
	struct store_watch *watch = NULL;
	assert_int_equal(store_watch_open(fixture->store, ONE, NULL, &watch, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_int_equal(store_watch_open(fixture->store, "..", NULL, &watch, &base_err), -1);
	assert_int_equal(base_err.code, ERROR_NOT_FOUND);
	make(fixture->store, ONE, "one");
	assert_int_equal(store_watch_open(fixture->store, ONE, "/nowhere/at/all", &watch,
					  &directory_err),
			 -1);
	assert_int_equal(directory_err.os_errno, ENOENT);
	assert_null(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(directories_that_others_can_write_are_refused),
		STORE_TEST(directories_of_others_are_refused),
		STORE_TEST(profiles_are_names_not_paths),
		STORE_TEST(profiles_are_apart),
		STORE_TEST(what_was_created_is_loaded),
		STORE_TEST(a_base_is_given_once),
		STORE_TEST(names_that_are_no_base_are_refused),
		STORE_TEST(container_names_are_bases_too),
		STORE_TEST(a_copy_goes_by_its_directory_and_leaves_the_run_to_its_original),
		STORE_TEST(what_was_saved_is_loaded),
		STORE_TEST(a_lock_saves_no_other_instance),
		STORE_TEST(what_could_not_be_read_again_is_not_saved),
		STORE_TEST(unknown_keys_survive_a_save),
		STORE_TEST(what_is_not_there_is_absent),
		STORE_TEST(a_lock_is_held_by_one),
		STORE_TEST(locking_sweeps_temporaries),
		STORE_TEST(what_was_removed_leaves_nothing),
		STORE_TEST(who_waits_for_what_is_removed_finds_it_absent),
		STORE_TEST(a_damaged_manifest_is_set_aside_by_its_lock_only),
		STORE_TEST(what_is_set_aside_is_kept_whole),
		STORE_TEST(a_damaged_instance_keeps_its_name_and_can_be_removed),
		STORE_TEST(a_manifest_that_was_too_large_is_damaged),
		STORE_TEST(a_newer_manifest_is_refused_and_left_alone),
		STORE_TEST(links_are_not_followed),
		STORE_TEST(a_pipe_in_the_place_of_a_manifest_does_not_hang),
		STORE_TEST(a_copied_directory_is_no_second_instance),
		STORE_TEST(a_watch_sees_each_change_of_the_manifest),
		STORE_TEST(a_watch_wakes_who_waits),
		STORE_TEST(a_watch_does_not_wake_for_others),
		STORE_TEST(a_watch_looks_at_a_directory_too),
		STORE_TEST(nothing_can_be_watched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
