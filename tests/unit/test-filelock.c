/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who has a lock on a file.
 */
#include "unit/scratch.h"

#include "base/filelock.h"

#include <sys/file.h>
#include <sys/wait.h>

static int open_file(const char *name, struct stat *ret)
{
	const int fd = openat(here, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, ret), 0);
	return fd;
}

static void the_process_with_the_lock_is_found(void **state UNUSED)
{
	struct stat file, other;
	struct process_id found = { 0 };
	cleanup_close int fd = open_file("a", &file), second = open_file("b", &other);
	assert_int_equal(flock(second, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(filelock_holder(&file, &found), FILELOCK_NONE);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	assert_int_equal(filelock_holder(&file, &found), FILELOCK_NONE);
	assert_int_equal(found.pid, 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(filelock_holder(&file, &found), 0);
	assert_int_equal(found.pid, getpid());
	assert_true(process_alive(&found));
}

/* The same number on another device is another file. */
static void another_device_is_another_file(void **state UNUSED)
{
	struct stat file;
	struct process_id found;
	cleanup_close int fd = open_file("a", &file);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	file.st_dev++;
	assert_int_equal(filelock_holder(&file, &found), FILELOCK_NONE);
}

/* The kernel names the process that took the lock, which has ended: we have only its descriptor. */
static void a_lock_of_a_process_that_has_ended_proves_nothing(void **state UNUSED)
{
	struct stat file;
	struct process_id found;
	cleanup_close int fd = open_file("a", &file);
	const pid_t child = fork();
	if (child == 0)
		_exit(flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : 1);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(filelock_holder(&file, &found), FILELOCK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_process_with_the_lock_is_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_device_is_another_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lock_of_a_process_that_has_ended_proves_nothing,
						set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
