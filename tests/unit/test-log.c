/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines of the log, and its size.
 */
#include "unit/scratch.h"

#include "base/fsutil.h"
#include "base/log.h"

#include <string.h>
#include <sys/stat.h>

static void a_log_line_is_one_line_of_visible_text(void **state UNUSED)
{
	log_open(here, "test");
	log_set_instance("0123abcd");
	log_info("two\nlines \033[31m");
	log_debug("not at this level");
	log_set_instance(NULL);
	log_warning("plain");
	cleanup_free char *text = get("agentdeck.log");
	assert_non_null(strstr(text, "Z info test pid="));
	assert_non_null(strstr(text, " instance=0123abcd two\\nlines \\033[31m\n"));
	assert_null(strstr(text, "level"));
	assert_true(ends_with(text, " plain\n"));
	struct stat st;
	assert_int_equal(fstatat(here, "agentdeck.log", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_log_is_moved_aside_when_it_is_large(void **state UNUSED)
{
	cleanup_free char *filler = xcalloc(65536, 1);
	memset(filler, 'x', 65535);
	log_open(here, "test");
	for (int i = 0; i < 140; i++)
		log_info("%s", filler);
	struct stat now, old;
	assert_int_equal(fstatat(here, "agentdeck.log", &now, 0), 0);
	assert_int_equal(fstatat(here, "agentdeck.log.1", &old, 0), 0);
	assert_true(now.st_size < 5 << 20 && old.st_size < 5 << 20);
}

static void only_the_wanted_levels_are_written(void **state UNUSED)
{
	log_open(here, "test");
	log_set_level(LOG_LEVEL_WARNING);
	log_info("one");
	log_warning("two");
	log_error("three");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("four");
	log_set_level(LOG_LEVEL_INFO);
	cleanup_free char *text = get("agentdeck.log");
	assert_null(strstr(text, " one\n"));
	assert_non_null(strstr(text, "Z warning test pid="));
	assert_non_null(strstr(text, "Z error test pid="));
	assert_non_null(strstr(text, "Z debug test pid="));
}

static void an_instance_forges_no_line(void **state UNUSED)
{
	log_open(here, "test");
	log_set_instance("x\n2026 forged");
	log_info("a");
	log_set_instance(NULL);
	cleanup_free char *text = get("agentdeck.log");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_null(strstr(text, "forged"));
}

static void what_is_no_file_of_ours_gets_no_line(void **state UNUSED)
{
	put("precious", "text");
	assert_int_equal(symlinkat("precious", here, "agentdeck.log"), 0);
	log_open(here, "test");
	log_info("x");
	assert_int_equal(unlinkat(here, "agentdeck.log", 0), 0);
	/* a FIFO blocks nobody */
	assert_int_equal(mkfifoat(here, "agentdeck.log", 0600), 0);
	log_open(here, "test");
	log_info("x");
	/* and gets nothing when somebody reads it */
	char line[80];
	cleanup_close int reader = openat(here, "agentdeck.log", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	log_open(here, "test");
	log_info("x");
	assert_int_equal(read(reader, line, sizeof(line)), 0);
	assert_int_equal(unlinkat(here, "agentdeck.log", 0), 0);
	/* nor does a second name of another file */
	assert_int_equal(linkat(here, "precious", here, "agentdeck.log", 0), 0);
	log_open(here, "test");
	log_info("x");
	cleanup_free char *text = get("precious");
	assert_string_equal(text, "text");
}

static void lines_go_on_in_the_file_of_that_name(void **state UNUSED)
{
	log_open(here, "test");
	log_info("before");
	assert_int_equal(renameat(here, "agentdeck.log", here, "away"), 0);
	log_info("after");
	cleanup_free char *text = get("agentdeck.log"), *away = get("away");
	assert_true(ends_with(text, " after\n"));
	assert_null(strstr(text, "before"));
	assert_true(ends_with(away, " before\n"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_log_line_is_one_line_of_visible_text),
		TEST(a_log_is_moved_aside_when_it_is_large),
		TEST(only_the_wanted_levels_are_written),
		TEST(an_instance_forges_no_line),
		TEST(what_is_no_file_of_ours_gets_no_line),
		TEST(lines_go_on_in_the_file_of_that_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
