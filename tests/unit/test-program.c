/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Why a program does not start.
 */
#include "unit/scratch.h"

#include "base/program.h"

#include <errno.h>
#include <sys/stat.h>

/* An executable file in the scratch directory.  Returns its path, until the next call. */
static const char *program(const char *name, const char *text)
{
	static char path[4096];
	put(name, text);
	assert_int_equal(fchmodat(here, name, 0700, 0), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static void assert_not_found(const char *name, const char *why)
{
	cleanup_error struct error err = { 0 };
	if (program_find(name, scratch, "/", &err) != -1)
		fail_msg("%s was found", name);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	if (!strstr(err.message, why))
		fail_msg("%s: %s", name, err.message);
}

static void programs_are_found_as_execvp_would_but_only_in_absolute_folders(void **state UNUSED)
{
	cleanup_free char *path = xasprintf(":.:relative:%s", scratch);
	put("tool", "#!/bin/sh\n");
	assert_null(program_path("tool", path, NULL));
	assert_int_equal(fchmodat(here, "tool", 0700, 0), 0);
	cleanup_free char *found = program_path("tool", path, NULL);
	assert_true(found && starts_with(found, scratch));
	cleanup_free char *below = program_path("./tool", path, scratch);
	assert_non_null(below);
	assert_null(program_path("../nothing", path, scratch));
	assert_int_equal(mkdirat(here, "folder", 0700), 0);
	assert_null(program_path("folder", path, NULL));
}

static void a_program_is_found_in_path(void **state UNUSED)
{
	(void)program("tool", "#!/bin/sh\n");
	assert_int_equal(program_find("tool", scratch, "/", NULL), 0);
}

static void what_is_missing_is_told_with_the_remedy(void **state UNUSED)
{
	assert_not_found("nowhere", "program 'nowhere' not found in PATH: install it");
	assert_not_found("/nowhere/at/all", "program '/nowhere/at/all' does not exist: install it");
	put("plain", "#!/bin/sh\n");
	assert_int_equal(fchmodat(here, "plain", 0600, 0), 0);
	assert_not_found("plain", "plain is not executable: chmod +x it");
	assert_int_equal(symlinkat("gone", here, "dangling"), 0);
	assert_not_found("dangling", "dangling is a link to a file that is missing");
}

static void a_name_in_a_message_plays_with_no_terminal(void **state UNUSED)
{
	assert_not_found("a\033[31m", "program 'a\\033[31m' not found in PATH");
}

static void the_program_of_env_is_looked_for_too(void **state UNUSED)
{
	static const char *const lines[] = { "#!/usr/bin/env nothing\n",
					     "#! /usr/bin/env  nothing x\n",
					     "#!/usr/bin/env -S nothing --flag\n" };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		(void)program("script", lines[i]);
		assert_not_found("script", "program 'nothing' not found in PATH, but the script");
	}
	(void)program("nothing", "#!/bin/sh\n");
	assert_int_equal(program_find("script", scratch, "/", NULL), 0);
	/* less plain lines are left to env(1) */
	(void)program("script", "#!/usr/bin/env A=b missing\n");
	assert_int_equal(program_find("script", scratch, "/", NULL), 0);
}

static void a_missing_interpreter_is_named(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	assert_int_equal(program_check(program("good", "#!/bin/sh\n"), NULL), 0);
	const char *file = program("bad", "#!/opt/none/python -u\n");
	assert_int_equal(program_check(file, &err), -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	assert_non_null(
		strstr(err.message, "cannot be executed: its interpreter /opt/none/python"));
	cleanup_free char *why = program_explain(file, ENOENT);
	assert_true(starts_with(why, strerror(ENOENT)));
	assert_non_null(strstr(why, "/opt/none/python"));
}

static void our_own_program_can_be_executed(void **state UNUSED)
{
	assert_int_equal(program_check("/proc/self/exe", NULL), 0);
	assert_false(program_is_text("/proc/self/exe"));
}

static void a_text_has_no_nul_in_its_beginning(void **state UNUSED)
{
	assert_true(program_is_text(program("script", "echo hello\n")));
	assert_false(program_is_text(program("empty", "")));
	assert_int_equal(fs_replace(here, "binary", "a\0b", 3, FS_VOLATILE, NULL), 0);
	cleanup_free char *path = path_join(scratch, "binary");
	assert_false(program_is_text(path));
	assert_false(program_is_text("/nowhere"));
}

static void each_refusal_of_execve_is_explained(void **state UNUSED)
{
	/* the beginning of an ELF file for a machine that does not exist */
	char elf[64] = "\177ELF\2\1\1";
	elf[18] = elf[19] = 0x7e;
	assert_int_equal(fs_replace(here, "elf", elf, sizeof(elf), FS_VOLATILE, NULL), 0);
	cleanup_free char *foreign = path_join(scratch, "elf");
	const struct {
		const char *file;
		int number;
		const char *remedy;
	} cases[] = {
		{ foreign, ENOEXEC, "another machine (ELF machine 32382" },
		{ foreign, EACCES, "not executable: chmod +x it" },
		{ "/bin/sh", EACCES, "noexec" },
		{ "/bin/sh", ETXTBSY, "it is open for writing" },
		{ "/bin/sh", EAGAIN, "too many processes" },
		{ "/bin/sh", ENOEXEC, "neither a program for this machine nor a script" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *why = program_explain(cases[i].file, cases[i].number);
		assert_true(starts_with(why, strerror(cases[i].number)));
		if (!strstr(why, cases[i].remedy))
			fail_msg("%d: %s", cases[i].number, why);
	}
	put("empty", "");
	cleanup_free char *empty = path_join(scratch, "empty");
	cleanup_free char *why = program_explain(empty, ENOEXEC);
	assert_non_null(strstr(why, "the file is empty"));
	/* what we know nothing about */
	cleanup_free char *other = program_explain("/bin/sh", ELOOP);
	assert_string_equal(other, strerror(ELOOP));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void a_dynamic_program_names_its_loader(void **state UNUSED)
{
	cleanup_free char *own = program_loader("/proc/self/exe");
	assert_non_null(own);
	assert_int_equal(access(own, X_OK), 0);
	assert_null(program_loader(own)); /* it is loaded by the kernel alone */
	assert_null(program_loader(program("script", "#!/bin/sh\n")));
	assert_null(program_loader(program("cut", "\177ELF")));
	assert_null(program_loader("/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(programs_are_found_as_execvp_would_but_only_in_absolute_folders),
		TEST(a_program_is_found_in_path),
		TEST(what_is_missing_is_told_with_the_remedy),
		TEST(a_name_in_a_message_plays_with_no_terminal),
		TEST(the_program_of_env_is_looked_for_too),
		TEST(a_missing_interpreter_is_named),
		TEST(our_own_program_can_be_executed),
		TEST(a_text_has_no_nul_in_its_beginning),
		TEST(each_refusal_of_execve_is_explained),
		TEST(a_dynamic_program_names_its_loader),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
