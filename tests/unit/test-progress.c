/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The line that says how far a long look has come: when it appears, and where.
 */
#include "unit/test.h"

#include "cli/show/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* What a terminal or pipe got so far. */
static const char *got(int fd)
{
	static char text[256];
	const ssize_t n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static FILE *open_terminal(int *ret_master)
{
	struct termios raw;
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	assert_int_equal(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	*ret_master = master;
	return fdopen(slave, "w");
}

static void it_appears_on_a_terminal_after_a_second(void **state UNUSED)
{
	struct progress progress;
	int master;
	FILE *terminal = open_terminal(&master);
	progress_begin(&progress, terminal, false, 5000);
	progress_step(&progress, 5999, "Looking at conversation", 1, 90);
	progress_clear(&progress);
	assert_string_equal(got(master), "");
	progress_step(&progress, 6000, "Looking at conversation", 7, 90);
	assert_string_equal(got(master), "\rLooking at conversation 7 of 90");
	progress_step(&progress, 6999, "Looking at conversation", 8, 90);
	assert_string_equal(got(master), "");
	progress_step(&progress, 7000, "Looking at conversation", 9, 90);
	assert_string_equal(got(master), "\rLooking at conversation 9 of 90");
	progress_clear(&progress);
	assert_string_equal(got(master), "\r\033[K");
	progress_clear(&progress);
	assert_string_equal(got(master), "");
	(void)fclose(terminal);
	(void)close(master);
}

static void a_pipe_gets_only_json(void **state UNUSED)
{
	struct progress progress;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	FILE *to = fdopen(ends[1], "w");
	progress_begin(&progress, to, false, 5000);
	progress_step(&progress, 60000, "Looking at conversation", 7, 90);
	progress_clear(&progress);
	assert_int_equal(fflush(to), 0);
	assert_string_equal(got(ends[0]), "");
	progress_begin(&progress, to, true, 5000);
	progress_step(&progress, 5999, "Looking at conversation", 6, 90);
	progress_step(&progress, 6000, "Looking at conversation", 7, 90);
	progress_clear(&progress);
	assert_non_null(strstr(got(ends[0]), "\"text\":\"Looking at conversation\",\"is_failure\":"
					     "false,\"number\":7,\"count\":90"));
	assert_string_equal(got(ends[0]), "");
	(void)fclose(to);
	(void)close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_appears_on_a_terminal_after_a_second),
		cmocka_unit_test(a_pipe_gets_only_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
