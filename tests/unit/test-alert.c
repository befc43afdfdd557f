/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is written to terminals for a notice, and to what.
 */
#include "unit/scratch.h"

#include "engine/terminal/alert.h"

#include <stdlib.h>

static void assert_bytes(const struct alert *alert, enum alert_terminal terminal,
			 const char *expected)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	alert_bytes(alert, terminal, &bytes);
	assert_string_equal(strbuf_text(&bytes), expected);
}

static void each_terminal_gets_what_it_understands(void **state UNUSED)
{
	const struct alert nine = { "api", "waits for you", true, NOTIFY_OSC_9 };
	const struct alert other = { "api", "waits for you", false, NOTIFY_OSC_777 };
	const struct alert bell = { "api", "waits for you", true, NOTIFY_OSC_NONE };
	assert_bytes(&nine, ALERT_DIRECT, "\a\033]9;agentdeck: api: waits for you\033\\");
	assert_bytes(&nine, ALERT_PLAIN, "\a");
	assert_bytes(&nine, ALERT_IN_TMUX,
		     "\a\033Ptmux;\033\033]9;agentdeck: api: waits for you\033\033\\\033\\");
	assert_bytes(&other, ALERT_DIRECT, "\033]777;notify;agentdeck: api;waits for you\033\\");
	assert_bytes(&other, ALERT_PLAIN, "");
	assert_bytes(&bell, ALERT_DIRECT, "\a");
	assert_bytes(&bell, ALERT_IN_TMUX, "\a");
}

static void a_title_sends_nothing_of_its_own(void **state UNUSED)
{
	static const char *const titles[] = { "\033]52;c;eA==\a",
					      "x\033\\\033[2J",
					      "a\nb",
					      "\a",
					      ("\xc2\x9d"
					       "52;c;x"),
					      "\xff",
					      "4;3;50" };
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		cleanup_strbuf struct strbuf bytes = { 0 };
		const struct alert alert = { titles[i], "x", false, NOTIFY_OSC_777 };
		alert_bytes(&alert, ALERT_DIRECT, &bytes);
		unsigned escapes = 0, parts = 0;
		for (const char *c = bytes.data; *c; c++) {
			escapes += *c == '\033';
			parts += *c == ';';
			assert_true(*c == '\033' || (unsigned char)*c >= ' ');
		}
		assert_int_equal(escapes, 2);
		assert_int_equal(parts, 3);
		assert_true(is_utf8(bytes.data, bytes.length));
		assert_null(strstr(bytes.data, "\xc2\x9d"));
	}
}

static void a_long_title_is_cut_between_characters(void **state UNUSED)
{
	char title[2000];
	for (size_t i = 0; i + 2 < sizeof(title); i += 2)
		memcpy(title + i, "\xc3\xbc", 3);
	cleanup_strbuf struct strbuf bytes = { 0 };
	alert_bytes(&(struct alert){ title, title, true, NOTIFY_OSC_9 }, ALERT_IN_TMUX, &bytes);
	assert_true(bytes.length < 2 * ALERT_TEXT_MAX + 100);
	assert_true(is_utf8(bytes.data, bytes.length));
}

static void terminals_are_known_by_what_tmux_says(void **state UNUSED)
{
	static const struct {
		const char *name, *answer;
		enum alert_terminal terminal;
	} cases[] = {
		{ "xterm-256color", "", ALERT_DIRECT },
		{ "xterm-kitty", "kitty(0.26)", ALERT_DIRECT },
		{ "tmux-256color", "", ALERT_IN_TMUX },
		{ "screen-256color", "tmux 3.3a", ALERT_IN_TMUX },
		{ "screen", "", ALERT_PLAIN },
		{ "linux", "", ALERT_PLAIN },
		{ "vt100", "", ALERT_PLAIN },
		{ "dumb", "", ALERT_PLAIN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(alert_terminal_of(cases[i].name, cases[i].answer),
				 cases[i].terminal);
}

/* A terminal: the end that a terminal emulator holds, and the name of the other one. */
static int open_terminal(char **ret_name, int *ret_other)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(grantpt(fd), 0);
	assert_int_equal(unlockpt(fd), 0);
	*ret_name = xstrdup(ptsname(fd));
	*ret_other = open(*ret_name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*ret_other >= 0);
	return fd;
}

static void a_terminal_gets_the_bytes(void **state UNUSED)
{
	cleanup_free char *name = NULL;
	cleanup_close int other = -1, fd = open_terminal(&name, &other);
	cleanup_strbuf struct strbuf bytes = { 0 };
	char text[64] = "";
	strbuf_adds(&bytes, "\a\033]9;x\033\\");
	assert_int_equal(alert_write(name, &bytes, NULL), 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), bytes.length);
	assert_string_equal(text, bytes.data);
}

static void what_is_no_terminal_of_ours_gets_nothing(void **state UNUSED)
{
	cleanup_free char *file = path_join(scratch, "file"), *link = path_join(scratch, "link");
	cleanup_free char *name = NULL, *fifo = path_join(scratch, "fifo");
	cleanup_close int other = -1, fd UNUSED = open_terminal(&name, &other);
	cleanup_strbuf struct strbuf bytes = { 0 };
	strbuf_adds(&bytes, "\a");
	put("file", "kept");
	assert_int_equal(symlink(name, link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	const char *const paths[] = { file, link, fifo, scratch, "/dev/null", "/nonexistent" };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cleanup_error struct error err = { 0 };
		if (alert_write(paths[i], &bytes, &err) >= 0)
			fail_msg("%s was written to", paths[i]);
	}
	cleanup_free char *text = get("file");
	assert_string_equal(text, "kept");
}

static void a_terminal_that_nobody_reads_delays_nobody(void **state UNUSED)
{
	cleanup_free char *name = NULL;
	cleanup_close int other = -1, fd UNUSED = open_terminal(&name, &other);
	cleanup_strbuf struct strbuf bytes = { 0 };
	cleanup_error struct error err = { 0 };
	while (bytes.length < (1 << 20))
		strbuf_adds(&bytes, "0123456789");
	/* The first fills it; an alarm ends a test that hangs. */
	assert_int_equal(alert_write(name, &bytes, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	error_clear(&err);
	assert_int_equal(alert_write(name, &bytes, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_terminal_gets_what_it_understands),
		cmocka_unit_test(a_title_sends_nothing_of_its_own),
		cmocka_unit_test(a_long_title_is_cut_between_characters),
		cmocka_unit_test(terminals_are_known_by_what_tmux_says),
		IN_SCRATCH(a_terminal_gets_the_bytes),
		IN_SCRATCH(what_is_no_terminal_of_ours_gets_nothing),
		IN_SCRATCH(a_terminal_that_nobody_reads_delays_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
