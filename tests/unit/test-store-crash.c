/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is left when a process dies, when many run at once, and when the disk is full.
 *
 * The program runs itself under strace(1), which kills it at a chosen system call, with "--do
 * create|create-many|save|remove|discard|restore <root>".
 */
#include "unit/store-fixture.h"
#include "unit/tracing.h"

#include "base/child.h"
#include "driver/store/trash.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#define BYSTANDER "aaaa0001"
#define SUBJECT   "aaaa0002"
#define SECOND    "aaaa0003"

enum { CREATORS = 50 };

/* --- what strace runs ------------------------------------------------------------------------- */

static int do_create(struct store *store)
{
	cleanup_instance struct instance *instance = new_instance(SUBJECT, "subject");
	return create_instance(store, instance, NULL);
}

/* After a failure it removes those that have appeared, as lifecycle_add_many() does. */
static int do_create_many(struct store *store)
{
	cleanup_instance struct instance *subject = new_instance(SUBJECT, "subject");
	cleanup_instance struct instance *second = new_instance(SECOND, "second");
	const struct store_new new[] = { { subject, NULL }, { second, NULL } };
	struct store_profile_lock *lock = NULL;
	size_t made = 0;
	if (store_lock_profile(store, LONG_MS, &lock, NULL) != 0)
		return -1;
	const int r = store_create_many(lock, new, ARRAY_SIZE(new), &made, NULL);
	store_unlock_profile(lock);
	for (size_t i = 0; r < 0 && i < made; i++) {
		struct store_lock *own = NULL;
		if (store_lock(store, new[i].instance->base, 0, &own, NULL) == 0)
			(void)store_remove(own, NULL);
	}
	return r;
}

static int do_save(struct store *store)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	if (store_lock(store, SUBJECT, 0, &lock, NULL) != 0 ||
	    store_load_locked(lock, &instance, NULL) != 0)
		return -1;
	replace_string(&instance->title, "saved");
	return store_save(lock, instance, NULL);
}

static int do_remove(struct store *store)
{
	struct store_lock *lock = NULL;
	if (store_lock(store, SUBJECT, 0, &lock, NULL) != 0)
		return -1;
	return store_remove(lock, NULL);
}

static int do_discard(struct store *store)
{
	struct store_lock *lock = NULL;
	if (store_lock(store, SUBJECT, 0, &lock, NULL) != 0)
		return -1;
	return trash_put(lock, NULL);
}

static int do_restore(struct store *store)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_trash struct trash trash = { 0 };
	if (store_lock_profile(store, 0, &lock, NULL) != 0 || trash_list(store, &trash, NULL) < 0 ||
	    trash.count != 1)
		return -1;
	return trash_restore(lock, &trash.items[0], "saved", NULL);
}

static int do_operation(const char *operation, const char *root)
{
	cleanup_store struct store *store = NULL;
	if (store_open(root, "default", &store, NULL) != 0)
		return 1;
	int r = streq(operation, "create")        ? do_create(store)
		: streq(operation, "create-many") ? do_create_many(store)
		: streq(operation, "save")        ? do_save(store)
		: streq(operation, "discard")     ? do_discard(store)
		: streq(operation, "restore")     ? do_restore(store)
						  : do_remove(store);
	return r == 0 ? 0 : 1;
}

/* --- killed at every system call -------------------------------------------------------------- */

/* Exit status under strace, which does what to the when-th of these calls.  *ret_hit: there was
 * such a call; NULL: do not say. */
static int run_traced(const char *operation, const char *root, const char *calls, const char *what,
		      int when, bool *ret_hit)
{
	cleanup_free char *inject = xasprintf("inject=%s:%s:when=%d", calls, what, when);
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(length > 0);
	self[length] = '\0';
	const char *const argv[] = { "strace", "-f", "-qq",  "-o",      "/dev/stderr", "-e",
				     inject,   self, "--do", operation, root,          NULL };
	const struct child_request request = { .argv = argv };
	cleanup_child_result struct child_result result = { 0 };
	struct error err = { 0 };
	if (child_run(&request, LONG_MS, &result, &err) != 0)
		fail_msg("%s", err.message ? err.message : "strace is not installed");
	if (ret_hit)
		*ret_hit = result.exit_status == 128 + SIGKILL ||
			   strstr(strbuf_text(&result.errors), "(INJECTED)");
	return result.exit_status;
}

/* Assert that the profile has only names that may be there while no operation is in progress. */
static void assert_no_remnants(struct store *store, bool subject_there)
{
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(fs_list(store_profile_directory(store), &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		if (starts_with(name, "instances.json") || starts_with(name, BYSTANDER) ||
		    (subject_there && starts_with(name, SUBJECT)))
			continue;
		fail_msg("%s is left", name);
	}
}

static void assert_consistent(struct store *store, const char *operation)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_instance struct instance *instance = NULL;
	struct error err = { 0 };
	assert_int_equal(store_list(store, &rows, NULL), 0);
	assert_string_equal(row_of(&rows, BYSTANDER)->title, "bystander");
	int r = store_load(store, SUBJECT, &instance, &err);
	if (r < 0)
		fail_msg("%s", err.message);
	assert_int_equal(rows.count, r == STORE_ABSENT ? 1 : 2);
	if (streq(operation, "save"))
		assert_int_equal(r, 0);
	if (r == 0 && !streq(instance->title, "saved"))
		assert_string_equal(instance->title, "subject");

	sweep(store);
	if (r == 0)
		store_unlock(lock_of(store, SUBJECT));
	assert_no_remnants(store, r == 0);
	if (r == 0) {
		cleanup_strvec struct strvec names = { 0 };
		cleanup_close int fd = openat(store_profile_directory(store), SUBJECT,
					      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(fs_list(fd, &names, NULL), 0);
		assert_int_equal(names.count, 1);
	}

	/* Now the operation succeeds. */
	if (r == 0 || streq(operation, "create")) {
		(void)do_create(store);
		assert_int_equal(do_save(store), 0);
		assert_int_equal(do_remove(store), 0);
	}
	assert_no_remnants(store, false);
}

static int killed_at(const char *operation, const char *calls)
{
	for (int when = 1;; when++) {
		struct fixture *fixture = fixture_open();
		make(fixture->store, BYSTANDER, "bystander");
		if (!streq(operation, "create"))
			make(fixture->store, SUBJECT, "subject");
		int status = run_traced(operation, fixture->root, calls, "signal=KILL", when, NULL);
		if (status == 128 + SIGKILL)
			assert_consistent(fixture->store, operation);
		else
			assert_int_equal(status, 0);
		assert_int_equal(fixture_close(fixture), 0);
		if (status == 0)
			return when - 1;
	}
}

/* How often an operation makes a call, at least.  A trace that kills nothing proves nothing. */
struct calls {
	const char *names;
	int least;
};

static void assert_survives_kills(const char *operation, const struct calls *calls)
{
	skip_without_strace();
	for (; calls->names; calls++)
		assert_true(killed_at(operation, calls->names) >= calls->least);
}

static void a_kill_while_creating_leaves_all_or_nothing(void **state UNUSED)
{
	static const struct calls calls[] = {
		{ "?mkdirat", 1 }, { "write", 1 }, { "fsync", 3 }, { "?renameat,?renameat2", 2 },
		{ "fcntl", 1 },    { 0 },
	};
	assert_survives_kills("create", calls);
}

static void a_kill_while_saving_leaves_the_old_or_the_new(void **state UNUSED)
{
	static const struct calls calls[] = {
		{ "write", 1 }, { "fsync", 2 }, { "?renameat,?renameat2", 1 },
		{ "fcntl", 1 }, { 0 },
	};
	assert_survives_kills("save", calls);
}

static void a_kill_while_removing_leaves_all_or_nothing(void **state UNUSED)
{
	static const struct calls calls[] = {
		{ "fsync", 2 }, { "?renameat,?renameat2", 1 }, { "unlinkat", 3 }, { "fcntl", 1 },
		{ 0 },
	};
	assert_survives_kills("remove", calls);
}

/* Of the two, those that are there are whole, and nothing else is. */
static size_t count_whole(struct store *store)
{
	static const char *const bases[] = { SUBJECT, SECOND };
	cleanup_strvec struct strvec names = { 0 };
	size_t count = 0;
	sweep(store);
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		cleanup_instance struct instance *instance = NULL;
		const int r = store_load(store, bases[i], &instance, NULL);
		assert_true(r == 0 || r == STORE_ABSENT);
		count += r == 0;
		if (r == 0)
			store_unlock(lock_of(store, bases[i]));
	}
	assert_int_equal(fs_list(store_profile_directory(store), &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *base = xstrndup(names.items[i], strlen(SUBJECT));
		if (!starts_with(names.items[i], "instances.json") && !is_there(store, base))
			fail_msg("%s is left", names.items[i]);
	}
	return count;
}

/* How often it was cut.  *partly: how often one of the two was there. */
static int many_cut_at(const char *calls, const char *what, int *partly)
{
	const bool is_kill = starts_with(what, "signal");
	for (int when = 1;; when++) {
		struct fixture *fixture = fixture_open();
		bool is_hit;
		const int status = run_traced("create-many", fixture->root, calls, what, when,
					      &is_hit);
		if (status != 0 && !is_kill)
			assert_no_remnants(fixture->store, false);
		const size_t count = count_whole(fixture->store);
		if (status == 0)
			assert_int_equal(count, 2);
		else if (!is_kill)
			assert_int_equal(count, 0);
		*partly += count == 1;
		assert_int_equal(fixture_close(fixture), 0);
		if (!is_hit)
			return when - 1;
	}
}

static void many_are_whole_and_after_a_failure_none(void **state UNUSED)
{
	/* Two fsyncs for each of them, and one for both. */
	static const struct calls calls[] = {
		{ "?mkdirat", 2 },
		{ "write", 2 },
		{ "fsync", 5 },
		{ "?renameat,?renameat2", 4 },
		{ 0 },
	};
	int partly = 0;
	skip_without_strace();
	for (const struct calls *call = calls; call->names; call++) {
		assert_true(many_cut_at(call->names, "signal=KILL", &partly) >= call->least);
		assert_true(many_cut_at(call->names, "error=EIO", &partly) >= call->least);
	}
	/* Between the two renames. */
	assert_int_equal(partly, 1);
}

static void two_of_one_name_are_refused(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *subject = new_instance(SUBJECT, "subject");
	const struct store_new new[] = { { subject, NULL }, { subject, NULL } };
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_error struct error err = { 0 };
	size_t made = 0;
	assert_int_equal(store_lock_profile(fixture->store, LONG_MS, &lock, NULL), 0);
	assert_int_equal(store_create_many(lock, new, ARRAY_SIZE(new), &made, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	assert_int_equal(made, 0);
	assert_no_remnants(fixture->store, false);
}

/* Assert that it is whole in the profile or in the trash, and never in both or in none; and that it
 * has another title only where a restore has brought it back. */
static bool is_in_profile(struct store *store, bool is_restore)
{
	cleanup_trash struct trash trash = { 0 };
	cleanup_instance struct instance *instance = NULL;
	int r = store_load(store, SUBJECT, &instance, NULL);
	assert_true(r == 0 || r == STORE_ABSENT);
	assert_int_equal(trash_list(store, &trash, NULL), 0);
	assert_int_equal(trash.count, r == 0 ? 0 : 1);
	const struct instance *found = r == 0 ? instance : trash.items[0].instance;
	assert_non_null(found);
	assert_string_equal(found->title, r == 0 && is_restore ? "saved" : "subject");
	sweep(store);
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(fs_list(store_profile_directory(store), &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		assert_true(r == 0 || !starts_with(names.items[i], SUBJECT));
	return r == 0;
}

/* How often the operation was cut; after each cut the same operation can be done. */
static int cut_at(const char *operation, const char *calls, const char *what)
{
	const bool is_restore = streq(operation, "restore"), is_kill = starts_with(what, "signal");
	for (int when = 1;; when++) {
		struct fixture *fixture = fixture_open();
		make(fixture->store, SUBJECT, "subject");
		if (is_restore)
			assert_int_equal(do_discard(fixture->store), 0);
		bool is_hit;
		const int status = run_traced(operation, fixture->root, calls, what, when, &is_hit);
		const bool in_profile = is_in_profile(fixture->store, is_restore);
		if (status == 0)
			assert_true(in_profile == is_restore);
		else if (!is_kill)
			assert_true(in_profile != is_restore);
		if (in_profile != is_restore)
			assert_int_equal(is_restore ? do_restore(fixture->store)
						    : do_discard(fixture->store),
					 0);
		assert_true(is_in_profile(fixture->store, is_restore) == is_restore);
		assert_int_equal(fixture_close(fixture), 0);
		if (!is_hit)
			return when - 1;
	}
}

static void cut_everywhere(const char *operation, const char *what, const struct calls *calls)
{
	for (; calls->names; calls++)
		assert_true(cut_at(operation, calls->names, what) >= calls->least);
}

static void what_is_cut_is_in_the_profile_or_in_the_trash(void **state UNUSED)
{
	static const struct calls discard[] = {
		{ "?mkdirat", 1 }, { "fsync", 3 }, { "?renameat,?renameat2", 1 },
		{ "unlinkat", 1 }, { 0 },
	};
	static const struct calls restore[] = {
		{ "write", 1 },
		{ "fsync", 4 },
		{ "?renameat,?renameat2", 2 },
		{ 0 },
	};
	skip_without_strace();
	cut_everywhere("discard", "signal=KILL", discard);
	cut_everywhere("restore", "signal=KILL", restore);
	cut_everywhere("discard", "error=EIO", discard);
	cut_everywhere("restore", "error=EIO", restore);
}

/* --- a system call fails ---------------------------------------------------------------------- */

/* How often the operation failed; a failure must change nothing. */
static int failed_at(const char *operation, const char *calls)
{
	int failures = 0;
	for (int when = 1; when <= 3; when++) {
		struct fixture *fixture = fixture_open();
		struct instance *instance = NULL;
		bool create = streq(operation, "create");
		if (!create)
			make(fixture->store, SUBJECT, "subject");
		int status = run_traced(operation, fixture->root, calls, "error=EIO", when, NULL);
		int r = store_load(fixture->store, SUBJECT, &instance, NULL);
		assert_true(status == 0 || status == 1);
		const bool is_there_now = create ? status == 0
						 : status == 1 || streq(operation, "save");
		assert_int_equal(r, is_there_now ? 0 : STORE_ABSENT);
		if (is_there_now)
			assert_string_equal(instance->title,
					    status == 0 && !create ? "saved" : "subject");
		if (status == 1 && create)
			assert_no_remnants(fixture->store, false);
		failures += status == 1;
		instance_free(instance);
		assert_int_equal(fixture_close(fixture), 0);
	}
	return failures;
}

static void what_failed_has_changed_nothing(void **state UNUSED)
{
	skip_without_strace();
	assert_true(failed_at("create", "write") > 0);
	assert_true(failed_at("create", "fsync") == 3);
	assert_true(failed_at("create", "?renameat,?renameat2") == 2);
	assert_true(failed_at("save", "write") > 0);
	assert_true(failed_at("save", "?renameat,?renameat2") > 0);
	assert_true(failed_at("remove", "fsync") > 0);
	assert_true(failed_at("remove", "?renameat,?renameat2") > 0);
}

/* Whether the when-th of these calls was interrupted.  The operation must succeed.  paths: only
 * calls on these, below the profile's directory, because the dynamic loader makes calls of its own;
 * NULL: all. */
static bool interrupted_at(const char *operation, const char *call, const char *const *paths,
			   int when)
{
	struct fixture *fixture = fixture_open();
	cleanup_instance struct instance *instance = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	static const char *const strace[] = { "strace", "-f", "-qq", "-o", "/dev/stderr", NULL };
	strvec_push_array(&argv, strace);
	for (; paths && *paths; paths++) {
		strvec_push(&argv, "-P");
		strvec_pushf(&argv, "%s/default%s", fixture->root, *paths);
	}
	strvec_push(&argv, "-e");
	strvec_pushf(&argv, "inject=%s:error=EINTR:when=%d", call, when);
	const char *const words[] = { self, "--do", operation, fixture->root, NULL };
	strvec_push_array(&argv, words);
	if (!streq(operation, "create"))
		make(fixture->store, SUBJECT, "subject");
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv) };
	assert_int_equal(child_run(&request, LONG_MS, &result, NULL), 0);
	assert_int_equal(result.exit_status, 0);
	assert_int_equal(store_load(fixture->store, SUBJECT, &instance, NULL),
			 streq(operation, "remove") ? STORE_ABSENT : 0);
	if (streq(operation, "save"))
		assert_string_equal(instance->title, "saved");
	assert_int_equal(fixture_close(fixture), 0);
	return strstr(strbuf_text(&result.errors), "(INJECTED)") != NULL;
}

static void goes_on(const char *operation, const char *call, const char *const *paths, int least)
{
	int count = 0;
	while (interrupted_at(operation, call, paths, count + 1))
		count++;
	assert_true(count >= least);
}

/* As a signal does on a file system over a network. */
static void what_a_signal_interrupts_goes_on(void **state UNUSED)
{
	static const char *const directories[] = { "", "/" SUBJECT, "/.new-" SUBJECT,
						   "/.removed-" SUBJECT, NULL };
	static const char *const lock[] = { "/" SUBJECT ".lock", NULL };
	static const struct {
		const char *name;
		int writes, syncs;
	} operations[] = { { "create", 1, 3 }, { "save", 1, 2 }, { "remove", 0, 2 } };
	skip_without_strace();
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		goes_on(operations[i].name, "write", NULL, operations[i].writes);
		goes_on(operations[i].name, "fsync", NULL, operations[i].syncs);
		goes_on(operations[i].name, "openat", directories, 1);
		goes_on(operations[i].name, "fcntl", lock, 1);
	}
}

/* --- remnants --------------------------------------------------------------------------------- */

static void the_profile_lock_clears_what_crashes_left(void **state)
{
	const struct fixture *fixture = *state;
	int directory = store_profile_directory(fixture->store);
	static const char *const left[] = { ".new-" SUBJECT, ".removed-" SUBJECT, SUBJECT };
	make(fixture->store, BYSTANDER, "bystander");
	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		assert_int_equal(mkdirat(directory, left[i], 0700), 0);
	put_content(fixture->store, ".new-" SUBJECT "/.tmp-1", "torn");
	put_content(fixture->store, ".removed-" SUBJECT "/instance.json", "{}");
	put_content(fixture->store, SUBJECT "/.tmp-1", "torn");
	put_content(fixture->store, ".tmp-0123", "torn");
	put_content(fixture->store, SUBJECT ".lock", "");
	put_content(fixture->store, "aaaa0003.lock", "");
	sweep(fixture->store);
	assert_no_remnants(fixture->store, false);
	assert_true(is_there(fixture->store, BYSTANDER "/instance.json"));
	assert_true(is_there(fixture->store, BYSTANDER ".lock"));
}

static void nothing_is_cleared_on_a_guess(void **state)
{
	const struct fixture *fixture = *state;
	int directory = store_profile_directory(fixture->store);
	static const char *const kept[] = { "notes",       ".removed-", ".removed-..",
					    "Backup.lock", ".new-a b",  SUBJECT };
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_int_equal(mkdirat(directory, kept[i], 0700), 0);
	put_content(fixture->store, SUBJECT "/saved-by-the-user", "");
	sweep(fixture->store);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_true(is_there(fixture->store, kept[i]));
	assert_true(is_there(fixture->store, SUBJECT "/saved-by-the-user"));
}

static void what_somebody_holds_is_not_cleared(void **state)
{
	const struct fixture *fixture = *state;
	int directory = store_profile_directory(fixture->store);
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	assert_int_equal(mkdirat(directory, ".removed-" SUBJECT, 0700), 0);
	assert_int_equal(fs_lock(directory, SUBJECT ".lock", 0, &lock, NULL), 0);
	sweep(fixture->store);
	assert_true(is_there(fixture->store, ".removed-" SUBJECT));
	assert_true(is_there(fixture->store, SUBJECT ".lock"));
	fs_unlock(&lock);
	sweep(fixture->store);
	assert_false(is_there(fixture->store, ".removed-" SUBJECT));
	assert_false(is_there(fixture->store, SUBJECT ".lock"));
}

/* --- many at once ----------------------------------------------------------------------------- */

struct creator {
	const char *root;
	char id[9];
};

static int create_one(void *data)
{
	const struct creator *creator = data;
	cleanup_store struct store *store = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = new_instance(creator->id, creator->id);
	if (store_open(creator->root, "default", &store, NULL) != 0)
		return 90;
	if (create_instance(store, instance, &err) == 0)
		return 0;
	return err.code == ERROR_EXISTS ? 1 : 91;
}

static void many_creators_lose_nothing(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	struct creator creators[CREATORS];
	pid_t children[CREATORS];
	for (int i = 0; i < CREATORS; i++) {
		creators[i].root = fixture->root;
		snprintf(creators[i].id, sizeof(creators[i].id), "cccc%04d", i);
		children[i] = start_child(create_one, &creators[i]);
	}
	for (int i = 0; i < CREATORS; i++)
		assert_int_equal(end_of_child(children[i]), 0);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, CREATORS);
	for (int i = 0; i < CREATORS; i++)
		assert_string_equal(row_of(&rows, creators[i].id)->title, creators[i].id);
}

static void of_two_creators_of_one_base_one_wins(void **state)
{
	const struct fixture *fixture = *state;
	struct creator creator = { .root = fixture->root, .id = SUBJECT };
	pid_t first = start_child(create_one, &creator), second = start_child(create_one, &creator);
	int a = end_of_child(first), b = end_of_child(second);
	assert_int_equal(a + b, 1);
	assert_true(is_there(fixture->store, SUBJECT "/instance.json"));
}

/* --- a full disk ------------------------------------------------------------------------------ */

static void fill_disk(const struct store *store)
{
	static const char block[4096];
	cleanup_close int fd = openat(store_profile_directory(store), "ballast",
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

static void full_disk_refuses(struct store *store)
{
	cleanup_error struct error save_err = { 0 }, create_err = { 0 };
	cleanup_instance struct instance *instance = NULL, *after = NULL;
	cleanup_instance struct instance *other = new_instance(SUBJECT, "subject");
	make(store, BYSTANDER, "bystander");
	fill_disk(store);

	cleanup_store_lock struct store_lock *lock = lock_of(store, BYSTANDER);
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	replace_string(&instance->title, "saved");
	assert_int_equal(store_save(lock, instance, &save_err), -1);
	assert_int_equal(save_err.os_errno, ENOSPC);
	assert_int_equal(store_load(store, BYSTANDER, &after, NULL), 0);
	assert_string_equal(after->title, "bystander");

	assert_int_equal(create_instance(store, other, &create_err), -1);
	assert_int_equal(create_err.os_errno, ENOSPC);
	assert_false(is_there(store, SUBJECT));
	assert_false(is_there(store, SUBJECT ".lock"));
	assert_false(is_there(store, ".new-" SUBJECT));

	/* Removing needs no space, and frees some. */
	assert_int_equal(store_remove(TAKE_PTR(lock), NULL), 0);
	assert_false(is_there(store, BYSTANDER));
	assert_int_equal(unlinkat(store_profile_directory(store), "ballast", 0), 0);
	assert_int_equal(create_instance(store, other, NULL), 0);
}

static void a_full_disk_changes_nothing(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_free char *root = path_join(fixture->root, "tiny");
	assert_int_equal(mkdir(root, 0700), 0);
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", root, "tmpfs", 0, "size=256k,mode=0700") < 0) {
		print_message("a file system of our own cannot be mounted here\n");
		/* skip() jumps past the cleanup. */
		free(TAKE_PTR(root));
		skip();
	}
	struct store *store = NULL;
	assert_int_equal(store_open(root, "default", &store, NULL), 0);
	full_disk_refuses(store);
	store_close(store);
	assert_int_equal(umount(root), 0);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kill_while_creating_leaves_all_or_nothing),
		cmocka_unit_test(a_kill_while_saving_leaves_the_old_or_the_new),
		cmocka_unit_test(a_kill_while_removing_leaves_all_or_nothing),
		cmocka_unit_test(many_are_whole_and_after_a_failure_none),
		STORE_TEST(two_of_one_name_are_refused),
		cmocka_unit_test(what_is_cut_is_in_the_profile_or_in_the_trash),
		cmocka_unit_test(what_failed_has_changed_nothing),
		cmocka_unit_test(what_a_signal_interrupts_goes_on),
		STORE_TEST(the_profile_lock_clears_what_crashes_left),
		STORE_TEST(nothing_is_cleared_on_a_guess),
		STORE_TEST(what_somebody_holds_is_not_cleared),
		STORE_TEST(many_creators_lose_nothing),
		STORE_TEST(of_two_creators_of_one_base_one_wins),
		STORE_TEST(a_full_disk_changes_nothing),
	};
	if (argc == 4 && streq(argv[1], "--do"))
		return do_operation(argv[2], argv[3]);
	/* The leak checker of a sanitizer build cannot work under another tracer. */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
