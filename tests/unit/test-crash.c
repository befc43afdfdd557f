/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs that crash on a terminal.
 */
#include "unit/test.h"

#include "base/crash.h"
#include "base/macro.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESET "\033[?1049l"

static void overflow(volatile char *before, size_t left)
{
	volatile char some[4096];
	some[0] = '\0';
	if (before)
		some[0] = *before;
	if (left)
		overflow(some, left - 1);
	some[1] = some[0];
}

static void use_raw(const struct termios *before)
{
	struct termios raw = *before;
	cfmakeraw(&raw);
	assert_return_code(tcsetattr(STDIN_FILENO, TCSANOW, &raw), 0);
}

/* In the child: its terminal is standard input and output. */
static void crash(int how, bool is_given_back)
{
	struct termios before;
	const struct rlimit small = { (rlim_t)1 << 20, (rlim_t)1 << 20 };
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		_exit(1);
	use_raw(&before);
	crash_set_terminal(&before, RESET);
	if (is_given_back)
		crash_clear_terminal();
	if (how == 0)
		(void)setrlimit(RLIMIT_STACK, &small);
	if (how == 0)
		overflow(NULL, SIZE_MAX);
	else if (how == SIGABRT)
		abort();
	else
		(void)raise(how);
	_exit(2);
}

/* Is the terminal as it was, after a child has crashed so? */
static void check(int how, bool is_given_back)
{
	int status;
	char said[64] = { 0 };
	struct termios after;
	const int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
	const int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(theirs >= 0);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit none = { 0, 0 };
		(void)setrlimit(RLIMIT_CORE, &none);
		/* cmocka has handlers. */
		(void)signal(SIGSEGV, SIG_DFL);
		if (dup2(theirs, STDIN_FILENO) < 0 || dup2(theirs, STDOUT_FILENO) < 0)
			_exit(1);
		crash(how, is_given_back);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), how ? how : SIGSEGV);
	assert_return_code(tcgetattr(theirs, &after), 0);
	assert_int_equal((after.c_lflag & ICANON) != 0, !is_given_back);
	assert_return_code(fcntl(ours, F_SETFL, O_NONBLOCK), 0);
	const ssize_t length = read(ours, said, sizeof(said) - 1);
	assert_string_equal(length > 0 ? said : "", is_given_back ? "" : RESET);
	(void)close(theirs);
	(void)close(ours);
}

static void a_crash_gives_the_terminal_back(void **state UNUSED)
{
	static const int signals[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				       SIGABRT, SIGTRAP, SIGSYS, SIGXCPU };
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		check(signals[i], false);
}

static void a_stack_that_overflows_does_too(void **state UNUSED)
{
	check(0, false);
}

static void a_terminal_that_was_given_back_is_left_alone(void **state UNUSED)
{
	check(SIGSEGV, true);
}

/* In a session of its own, with the terminal and its foreground. */
static void crash_in_background(int terminal)
{
	int status = 0;
	if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		_exit(2);
	const pid_t child = fork();
	if (child == 0) {
		struct termios settings;
		if (setpgid(0, 0) < 0 || tcgetattr(STDIN_FILENO, &settings) < 0)
			_exit(2);
		crash_set_terminal(&settings, RESET);
		(void)raise(SIGSEGV);
		_exit(2);
	}
	if (waitpid(child, &status, WUNTRACED) != child)
		_exit(2);
	(void)kill(child, SIGKILL);
	_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 0 : 1);
}

/* The kernel would stop it, and the terminal is another program's by now. */
static void a_crash_in_the_background_leaves_the_terminal_alone(void **state UNUSED)
{
	int status;
	char said[64];
	const int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
	const int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
	const pid_t child = fork();
	assert_true(theirs >= 0 && child >= 0);
	if (child == 0) {
		const struct rlimit none = { 0, 0 };
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGSEGV, SIG_DFL);
		if (dup2(theirs, STDIN_FILENO) < 0 || dup2(theirs, STDOUT_FILENO) < 0)
			_exit(2);
		crash_in_background(theirs);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_return_code(fcntl(ours, F_SETFL, O_NONBLOCK), 0);
	assert_true(read(ours, said, sizeof(said)) < 0);
	(void)close(theirs);
	(void)close(ours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_gives_the_terminal_back),
		cmocka_unit_test(a_stack_that_overflows_does_too),
		cmocka_unit_test(a_terminal_that_was_given_back_is_left_alone),
		cmocka_unit_test(a_crash_in_the_background_leaves_the_terminal_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
