/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Obstacles that other users, a repository or an agent put in our way, and how the base layer meets
 * them.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/fsutil.h"
#include "base/jsonwrite.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { PLENTY_MS = 20000 };

static void only_what_reorders_text_is_told_to(void **state UNUSED)
{
	static const char *const harmless[] = { "",       "a",      "\u2029", "\u202f",
						"\u2065", "\u206a", "\u200d", "\xe2\x80" };
	static const char *const reordering[] = { "\u202a", "\u202e", "\u2066", "\u2069" };
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		assert_int_equal(text_reorders(harmless[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(reordering); i++)
		assert_int_equal(text_reorders(reordering[i]), 3);
}

/* Files of other owners need root; without it only our own are tested. */
static void a_way_through_what_others_have_made_is_refused(void **state UNUSED)
{
	enum { OTHER = 4712 };
	cleanup_free char *open_place = path_join(scratch, "open"),
			  *ours = path_join(open_place, "ours");
	cleanup_free char *file = path_join(ours, "socket"), *link = path_join(open_place, "link");
	cleanup_free char *through = path_join(link, "socket");
	cleanup_error struct error err = { 0 };
	assert_int_equal(fs_check_owner(file, &err), FS_ABSENT);
	assert_int_equal(mkdir(open_place, 0700) | chmod(open_place, 01777) | mkdir(ours, 0700), 0);
	assert_int_equal(fs_check_owner(file, &err), FS_ABSENT);
	assert_int_equal(mknod(file, S_IFREG | 0600, 0) | symlink(ours, link), 0);
	assert_int_equal(fs_check_owner(file, &err), 0);
	assert_int_equal(fs_check_owner(through, &err), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(lchown(link, OTHER, OTHER), 0);
	assert_int_equal(fs_check_owner(through, &err), -1);
	cleanup_free char *whose = xasprintf("%s belongs to user 4712", link);
	assert_true(starts_with(err.message, whose));
	error_clear(&err);
	/* Where only we can have made the name, a directory may be anybody's, but the last one must
	 * be ours. */
	assert_int_equal(chown(file, OTHER, OTHER), 0);
	assert_int_equal(fs_check_owner(file, NULL), -1);
	assert_int_equal(chown(file, 0, 0) | chown(ours, OTHER, OTHER), 0);
	assert_int_equal(fs_check_owner(file, NULL), -1);
	assert_int_equal(chmod(open_place, 0755), 0);
	assert_int_equal(fs_check_owner(file, NULL), 0);
}

static void a_file_that_names_programs_is_ours_or_roots(void **state UNUSED)
{
	put("config", "x");
	cleanup_close int fd = openat(here, "config", O_RDONLY | O_CLOEXEC);
	cleanup_error struct error err = { 0 };
	assert_int_equal(fs_check_author(fd, "config", &err), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(fchown(fd, 4712, 4712), 0);
	assert_int_equal(fs_check_author(fd, "config", &err), -1);
	assert_non_null(strstr(err.message, "config belongs to user 4712"));
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	assert_int_equal(fs_check_author(fd, "config", NULL), 0);
}

static void a_log_line_is_of_one_making(void **state UNUSED)
{
	log_open(here, "test");
	log_set_instance("x\n2026 forged by=me");
	log_info("said");
	log_set_instance(NULL);
	cleanup_free char *log = get("agentdeck.log");
	assert_non_null(strstr(log, " instance=x\\n2026 said\n"));
	assert_null(strstr(log, "forged"));
}

/* PATH contains the working directory, and a program there has a name that we look for. */
static void no_program_is_run_out_of_the_directory_we_stand_in(void **state UNUSED)
{
	static const char name[] = "agentdeck-no-such-tool";
	cleanup_free char *before = getcwd(NULL, 0), *path = xstrdup(getenv("PATH"));
	cleanup_free char *hostile = xasprintf(":.:%s", path);
	struct child_result result = { 0 };
	int status = -1;
	put(name, "#!/bin/sh\nexit 7\n");
	assert_int_equal(fchmodat(here, name, 0700, 0) | fchdir(here) | setenv("PATH", hostile, 1),
			 0);
	const struct child_request request = { .argv = (const char *const[]){ name, NULL },
					       .directory = here };
	int r = child_run(&request, PLENTY_MS, &result, NULL);
	int foreground = child_foreground(request.argv, NULL, NULL, &status, NULL);
	assert_int_equal(chdir(before) | setenv("PATH", path, 1), 0);
	assert_int_equal(r, CHILD_NOT_INSTALLED);
	assert_int_equal(foreground, CHILD_NOT_INSTALLED);
}

static void json_for_terminals_has_the_same_value_and_moves_none(void **state UNUSED)
{
	static const char hostile[] =
		"\x7f\xc2\x9b"
		"31m\xc2\x85\u202e\u2069 \u00e9 \u2029 \u20ac\xf0\x9f\x98\x80 \\u202e";
	cleanup_json struct json_object *object = json_object_new_object(), *again = NULL;
	json_set_string(object, hostile, hostile);
	cleanup_json_writer struct json_writer writer = { 0 };
	json_write_value(&writer, NULL, object);
	const char *text = writer.text.data;
	assert_non_null(
		strstr(text, "\\u007f\\u009b31m\\u0085\\u202e\\u2069 \u00e9 \u2029 \u20ac"));
	assert_null(strstr(text, "\u202e"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_int_equal(json_parse(text, strlen(text), "it", &again, NULL), 0);
	assert_string_equal(json_get_string(again, hostile, ""), hostile);
}

static void a_log_writes_into_no_other_file(void **state UNUSED)
{
	put("precious", "mine\n");
	assert_int_equal(linkat(here, "precious", here, "agentdeck.log", 0), 0);
	log_open(here, "test");
	log_info("first");
	log_info("second");
	cleanup_free char *precious = get("precious"), *log = get("agentdeck.log");
	assert_string_equal(precious, "mine\n");
	assert_non_null(strstr(log, " first\n"));
	assert_non_null(strstr(log, " second\n"));
	/* Nor if our name for it is removed before the first line, so that the file's only name is
	 * the other one. */
	assert_int_equal(unlinkat(here, "agentdeck.log", 0) |
				 linkat(here, "precious", here, "agentdeck.log", 0),
			 0);
	log_open(here, "test");
	assert_int_equal(unlinkat(here, "agentdeck.log", 0), 0);
	log_info("after");
	cleanup_free char *untouched = get("precious"), *next = get("agentdeck.log");
	assert_string_equal(untouched, "mine\n");
	assert_non_null(strstr(next, " after\n"));
	/* Nor while another process is about to move it aside. */
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	assert_int_equal(fs_lock(here, "agentdeck.log.lock", 0, &lock, NULL), 0);
	assert_int_equal(unlinkat(here, "agentdeck.log", 0) |
				 linkat(here, "precious", here, "agentdeck.log", 0),
			 0);
	log_open(here, "test");
	log_info("busy");
	cleanup_free char *same = get("precious");
	assert_string_equal(same, "mine\n");
	/* A link is not followed, and a FIFO without a reader makes nobody wait. */
	assert_int_equal(unlinkat(here, "agentdeck.log", 0) |
				 symlinkat("precious", here, "agentdeck.log"),
			 0);
	log_open(here, "test");
	log_info("third");
	assert_int_equal(unlinkat(here, "agentdeck.log", 0) | mkfifoat(here, "agentdeck.log", 0600),
			 0);
	log_open(here, "test");
	log_info("fourth");
	cleanup_free char *still = get("precious");
	assert_string_equal(still, "mine\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_reorders_text_is_told_to),
		TEST(a_way_through_what_others_have_made_is_refused),
		TEST(a_file_that_names_programs_is_ours_or_roots),
		TEST(no_program_is_run_out_of_the_directory_we_stand_in),
		TEST(json_for_terminals_has_the_same_value_and_moves_none),
		TEST(a_log_writes_into_no_other_file),
		TEST(a_log_line_is_of_one_making),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
