/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How errors are passed on, and their messages.
 */
#include "unit/scratch.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void error_carries_code_errno_and_message(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	assert_int_equal(error_set_errno(&err, ENOSPC, "write %s", "x"), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_int_equal(err.os_errno, ENOSPC);
	assert_string_equal(err.message, "write x: No space left on device");
	assert_int_equal(error_prefix(&err, "save %d", 7), -1);
	assert_string_equal(err.message, "save 7: write x: No space left on device");
	error_clear(&err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(error_set(&err, ERROR_BUSY, "again"), -1);
	assert_string_equal(err.message, "again");
}

static void a_disk_that_refuses_is_told_with_what_to_do(void **state UNUSED)
{
	static const struct {
		int number;
		const char *remedy;
	} cases[] = { { EACCES, "chmod" },
		      { ENOSPC, "free some space" },
		      { EDQUOT, "free some space" },
		      { EIO, "dmesg" },
		      { EROFS, "mount" },
		      { EFBIG, "ulimit" },
		      { ENOLCK, "locks" } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(error_set_file(&err, cases[i].number, "write %s", "x"), -1);
		assert_int_equal(err.code, ERROR_SYSTEM);
		assert_int_equal(err.os_errno, cases[i].number);
		assert_true(starts_with(err.message, "write x: "));
		assert_non_null(strstr(err.message, strerror(cases[i].number)));
		assert_non_null(strstr(err.message, cases[i].remedy));
		assert_true(ends_with(err.message, "then try again"));
	}
	cleanup_error struct error other = { 0 };
	assert_int_equal(error_set_file(&other, ENOENT, "open x"), -1);
	assert_string_equal(other.message, "open x: No such file or directory");
	assert_int_equal(error_set_file(NULL, EIO, "x"), -1);
}

static void error_of_a_caller_who_does_not_want_it_is_fine(void **state UNUSED)
{
	assert_int_equal(error_set(NULL, ERROR_BUSY, "x"), -1);
	assert_int_equal(error_set_errno(NULL, EIO, "x"), -1);
	assert_int_equal(error_prefix(NULL, "x"), -1);
	error_clear(NULL);
}

static void each_code_has_its_word_and_exit_status(void **state UNUSED)
{
	for (int i = ERROR_NONE + 1; i < ERROR_CODE_COUNT; i++) {
		const char *name = error_code_name((enum error_code)i);
		int expected = i == ERROR_USAGE                               ? 64
			       : i == ERROR_NOT_FOUND || i == ERROR_AMBIGUOUS ? 2
			       : i == ERROR_REFUSED                           ? 3
			       : i == ERROR_UNREACHABLE                       ? 69
			       : i == ERROR_UNKNOWN                           ? 70
									      : 1;
		assert_true(*name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name));
		assert_int_equal(error_exit_status((enum error_code)i), expected);
	}
	assert_string_equal(error_code_name(ERROR_EXISTS), "ALREADY_EXISTS");
	assert_string_equal(error_code_name(ERROR_INVALID), "INVALID_OPERATION");
}

/* --- a second error ------------------------------------------------------------------------- */

static void set_twice(struct error *err)
{
	(void)error_set(err, ERROR_BUSY, "first");
	(void)error_set_errno(err, EIO, "second");
}

static void move_onto_first(struct error *err)
{
	struct error from = { 0 };
	(void)error_set(err, ERROR_BUSY, "first");
	(void)error_set(&from, ERROR_CHILD, "second");
	(void)error_move(err, &from);
	assert_int_equal(from.code, ERROR_NONE);
	assert_null(from.message);
}

static void (*const mistakes[])(struct error *err) = { set_twice, move_onto_first };

static char *told;

static void remember(const char *first, const char *second)
{
	free(told);
	told = xasprintf("%s, %s", first, second);
}

static int forget(void **state)
{
	(void)state;
	error_on_second(NULL);
	free(told);
	told = NULL;
	return 0;
}

/* The status of a child that makes this mistake. */
static int end_of(void (*mistake)(struct error *err))
{
	int status = 0;
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct error err = { 0 };
		const struct rlimit none = { 0 };
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGABRT, SIG_DFL);
		mistake(&err);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_second_error_aborts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		const int status = end_of(mistakes[i]);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
	}
}

static void with_a_handler_the_first_error_stays(void **state)
{
	(void)state;
	error_on_second(remember);
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		cleanup_error struct error err = { 0 };
		mistakes[i](&err);
		assert_int_equal(err.code, ERROR_BUSY);
		assert_int_equal(err.os_errno, 0);
		assert_string_equal(err.message, "first");
		assert_true(starts_with(told, "first, second"));
	}
}

static void a_first_error_tells_no_handler(void **state)
{
	(void)state;
	cleanup_error struct error err = { 0 };
	error_on_second(remember);
	(void)error_set(&err, ERROR_BUSY, "first");
	error_clear(&err);
	(void)error_set(&err, ERROR_CHILD, "another");
	(void)error_set(NULL, ERROR_CHILD, "not wanted");
	assert_null(told);
	assert_string_equal(err.message, "another");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(error_carries_code_errno_and_message),
		TEST(a_disk_that_refuses_is_told_with_what_to_do),
		TEST(error_of_a_caller_who_does_not_want_it_is_fine),
		TEST(each_code_has_its_word_and_exit_status),
		cmocka_unit_test_teardown(a_second_error_aborts, forget),
		cmocka_unit_test_teardown(with_a_handler_the_first_error_stays, forget),
		cmocka_unit_test_teardown(a_first_error_tells_no_handler, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
