/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The process that has a conversation open.
 */
#include "unit/scratch.h"

#include "driver/transcript/holder.h"
#include "unit/files.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID "11111111-1111-4111-8111-111111111111"

static const struct holder_skip none;
static char layout[] = "sessions", lock[] = "open/{session_id}/inuse.*.hold";
static const struct agent noting = { .processes = layout };
static const struct agent locking = { .files.lock = lock };

static void note(const char *name, const char *text)
{
	cleanup_free char *directory = path_join(scratch, "sessions");
	cleanup_free char *path = path_join(directory, name);
	(void)mkdir(directory, 0700);
	write_path(path, text, strlen(text));
}

static char *note_of(const struct process_id *process, const char *session_id)
{
	return xasprintf("{\"pid\":%d,\"procStart\":\"%llu\",\"sessionId\":\"%s\"}",
			 (int)process->pid, (unsigned long long)process->start, session_id);
}

static void this_process(struct process_id *ret)
{
	assert_int_equal(process_identify(getpid(), ret, NULL), 0);
}

static void a_live_process_is_found(void **state UNUSED)
{
	struct process_id self, found;
	this_process(&self);
	cleanup_free char *text = note_of(&self, ID);
	note("7.json", text);
	note("8.json", "torn {");
	note("9.json", "[]");
	assert_int_equal(holder_find(&noting, scratch, ID, &none, &found), 0);
	assert_true(process_same(&found, &self));
	assert_int_equal(holder_find(&noting, scratch, "other", &none, &found), HOLDER_NONE);
}

static void another_process_of_that_pid_is_not_it(void **state UNUSED)
{
	struct process_id self, found;
	this_process(&self);
	self.start++;
	cleanup_free char *text = note_of(&self, ID);
	note("7.json", text);
	assert_int_equal(holder_find(&noting, scratch, ID, &none, &found), HOLDER_NONE);
}

static void one_that_carries_a_mark_is_skipped(void **state UNUSED)
{
	struct process_id self, found;
	const char *home = getenv("PATH");
	cleanup_holder_skip struct holder_skip skip = { 0 };
	strvec_push(&skip.marks, "HOLDER_TEST=none");
	strvec_pushf(&skip.marks, "PATH=%s", or_empty(home));
	this_process(&self);
	cleanup_free char *text = note_of(&self, ID);
	note("7.json", text);
	assert_int_equal(holder_find(&noting, scratch, ID, &skip, &found), HOLDER_NONE);
}

/* The agent itself refuses a conversation of its background, and says how to go on. */
static void the_background_of_the_agent_is_no_holder(void **state UNUSED)
{
	struct process_id self, found;
	this_process(&self);
	cleanup_free char *plain = note_of(&self, ID);
	cleanup_free char *text = xasprintf("{\"kind\":\"bg\",%s", plain + 1);
	note("7.json", text);
	assert_int_equal(holder_find(&noting, scratch, ID, &none, &found), HOLDER_NONE);
}

static void without_notes_nobody_has_it(void **state UNUSED)
{
	struct process_id found;
	assert_int_equal(holder_find(&noting, scratch, ID, &none, &found), HOLDER_NONE);
	assert_int_equal(holder_find(&noting, "/nowhere", ID, &none, &found), HOLDER_NONE);
}

/* A file of the directory of ID, open. */
static int open_lock(const char *name)
{
	cleanup_free char *path = xasprintf("%s/open/" ID "/%s", scratch, name);
	(void)mkdirat(here, "open", 0700);
	(void)mkdirat(here, "open/" ID, 0700);
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void a_lock_proves_its_process(void **state UNUSED)
{
	struct process_id self, found;
	cleanup_close int fd = open_lock("inuse.7.hold"), other = open_lock("other");
	this_process(&self);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), HOLDER_NONE);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), HOLDER_NONE);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), HOLDER_NONE);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), 0);
	assert_true(process_same(&found, &self));
	assert_int_equal(holder_find(&locking, scratch, "other", &none, &found), HOLDER_NONE);
	assert_int_equal(holder_find(&locking, scratch, "../x", &none, &found), HOLDER_NONE);
	assert_int_equal(holder_find(&noting, scratch, ID, &none, &found), HOLDER_NONE);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), HOLDER_NONE);
}

static void a_lock_of_fcntl_counts_too(void **state UNUSED)
{
	struct process_id found;
	cleanup_close int fd = open_lock("inuse.7.hold");
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	assert_int_equal(fcntl(fd, F_SETLK, &whole), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), 0);
}

static void a_locker_that_carries_a_mark_is_skipped(void **state UNUSED)
{
	struct process_id found;
	cleanup_close int fd = open_lock("inuse.7.hold");
	cleanup_holder_skip struct holder_skip skip = { 0 };
	strvec_pushf(&skip.marks, "PATH=%s", or_empty(getenv("PATH")));
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &skip, &found), HOLDER_NONE);
}

static void what_is_no_file_is_not_locked(void **state UNUSED)
{
	struct process_id found;
	cleanup_close int fd = open_lock("file");
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(mkfifoat(here, "open/" ID "/inuse.1.hold", 0600), 0);
	assert_int_equal(symlinkat("file", here, "open/" ID "/inuse.2.hold"), 0);
	assert_int_equal(holder_find(&locking, scratch, ID, &none, &found), HOLDER_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_live_process_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_process_of_that_pid_is_not_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_carries_a_mark_is_skipped, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_background_of_the_agent_is_no_holder, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_notes_nobody_has_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lock_proves_its_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lock_of_fcntl_counts_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_locker_that_carries_a_mark_is_skipped, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_not_locked, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
