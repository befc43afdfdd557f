/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which of the programs that come with agentdeck it runs, and which it does not.
 */
#include "unit/scratch.h"

#include "base/helper.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME "agentdeck-no-such-helper"

/* An installation: here/bin/agentdeck, and the helper in the directory of this name. */
static char *install(const char *directory)
{
	cleanup_free char *helper = xasprintf("%s/" NAME, directory);
	assert_int_equal(mkdirat(here, "bin", 0755), 0);
	put("bin/agentdeck", "x");
	if (!streq(directory, "bin"))
		assert_int_equal(mkdirat(here, "libexec", 0755) |
					 mkdirat(here, "libexec/agentdeck", 0755),
				 0);
	put(helper, "x");
	assert_int_equal(fchmodat(here, helper, 0755, 0), 0);
	assert_int_equal(fchmodat(here, "bin/agentdeck", 0755, 0), 0);
	return path_join(scratch, "bin/agentdeck");
}

static void assert_found(const char *program, const char *directory)
{
	cleanup_free char *path = NULL, *expected = xasprintf("%s/%s/" NAME, scratch, directory);
	cleanup_error struct error err = { 0 };
	if (helper_find(program, NAME, &path, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(path, expected);
}

static void assert_refused(const char *program, const char *why)
{
	cleanup_error struct error err = { 0 };
	char *path = NULL;
	assert_int_equal(helper_find(program, NAME, &path, &err), -1);
	assert_null(path);
	if (!strstr(err.message, why))
		fail_msg("%s", err.message);
}

static void give(const char *name, mode_t mode, uid_t user, gid_t group)
{
	assert_int_equal(fchownat(here, name, user, group, 0) | fchmodat(here, name, mode, 0), 0);
}

static void the_one_beside_the_program_comes_first(void **state UNUSED)
{
	cleanup_free char *program = install("bin");
	assert_found(program, "bin");
}

static void the_one_of_the_same_prefix_comes_next(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	assert_found(program, "libexec/agentdeck");
	put("bin/" NAME, "not executable");
	assert_found(program, "libexec/agentdeck");
}

static void the_configured_place_is_the_last(void **state UNUSED)
{
	cleanup_free char *program = path_join(scratch, "bin/agentdeck"), *path = NULL;
	cleanup_free char *expected = path_join(helper_directory, NAME);
	assert_int_equal(helper_find(program, NAME, &path, NULL), 0);
	assert_string_equal(path, expected);
}

/* As where /proc is not mounted: the repository that we are in may have such a program. */
static void nothing_is_taken_from_the_working_directory(void **state UNUSED)
{
	cleanup_free char *before = getcwd(NULL, 0), *path = NULL;
	free(install("bin"));
	assert_int_equal(fchdir(here) | chdir("bin"), 0);
	int r = helper_find("agentdeck", NAME, &path, NULL);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(r, 0);
	assert_int_equal(strncmp(path, helper_directory, strlen(helper_directory)), 0);
}

static void one_that_everybody_may_write_is_refused(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	assert_int_equal(fchmodat(here, "libexec", 0777, 0), 0);
	assert_refused(program, "/libexec, and so");
	/* in a sticky directory others cannot rename it */
	assert_int_equal(fchmodat(here, "libexec", 01777, 0), 0);
	assert_found(program, "libexec/agentdeck");
	assert_int_equal(fchmodat(here, "libexec/agentdeck/" NAME, 0757, 0), 0);
	assert_refused(program, "chmod o-w");
}

/* On some mounts of other systems' file systems, every file has these modes. */
static void nobody_gains_who_may_write_the_program(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	assert_int_equal(fchmodat(here, "libexec/agentdeck/" NAME, 0777, 0) |
				 fchmodat(here, "bin/agentdeck", 0777, 0),
			 0);
	assert_found(program, "libexec/agentdeck");
	/* a directory above both */
	assert_int_equal(fchmodat(here, "bin/agentdeck", 0755, 0) |
				 fchmodat(here, "libexec/agentdeck/" NAME, 0755, 0) |
				 fchmodat(here, ".", 0777, 0),
			 0);
	assert_found(program, "libexec/agentdeck");
}

static void a_link_counts_with_where_it_leads(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	assert_int_equal(mkdirat(here, "elsewhere", 0755), 0);
	assert_int_equal(renameat(here, "libexec/agentdeck/" NAME, here, "elsewhere/" NAME), 0);
	assert_int_equal(symlinkat("../../elsewhere/" NAME, here, "libexec/agentdeck/" NAME), 0);
	assert_found(program, "libexec/agentdeck");
	assert_int_equal(fchmodat(here, "elsewhere", 0777, 0), 0);
	assert_refused(program, "/elsewhere, and so");
}

/* Only root can give files away. */
static void one_of_another_user_or_group_is_refused(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	give("libexec", 0775, geteuid(), getegid());
	assert_found(program, "libexec/agentdeck");
	if (geteuid() != 0)
		return;
	give("libexec/agentdeck", 0755, 4712, 4712);
	assert_refused(program, "/libexec/agentdeck belongs to user 4712");
	give("libexec/agentdeck", 0775, 0, 4712);
	assert_refused(program, "group 4712 can write");
	/* as staff may write /usr/local/bin on Debian */
	give("bin", 02775, 0, 4712);
	assert_found(program, "libexec/agentdeck");
	/* it belongs to the owner of the program */
	give("bin/agentdeck", 0755, 4712, 4712);
	give("libexec/agentdeck", 0755, 4712, 4712);
	assert_found(program, "libexec/agentdeck");
}

static void this_program_has_an_absolute_path(void **state UNUSED)
{
	cleanup_free char *own = helper_own_program(), *real = realpath("/proc/self/exe", NULL);
	assert_string_equal(own, real);
}

/* Last: it acts for that program up to its end. */
static void a_helper_finds_what_its_program_finds(void **state UNUSED)
{
	cleanup_free char *program = install("libexec/agentdeck");
	helper_act_for(program);
	cleanup_free char *own = helper_own_program();
	cleanup_error struct error err = { 0 };
	assert_string_equal(own, program);
	/* It is no program that runs. */
	assert_int_equal(helper_become(NAME, &(struct strvec){ 0 }, &err), -1);
	assert_non_null(strstr(err.message, "libexec/agentdeck/" NAME ": "));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(the_one_beside_the_program_comes_first),
		TEST(the_one_of_the_same_prefix_comes_next),
		TEST(the_configured_place_is_the_last),
		TEST(nothing_is_taken_from_the_working_directory),
		TEST(one_that_everybody_may_write_is_refused),
		TEST(nobody_gains_who_may_write_the_program),
		TEST(a_link_counts_with_where_it_leads),
		TEST(one_of_another_user_or_group_is_refused),
		TEST(this_program_has_an_absolute_path),
		TEST(a_helper_finds_what_its_program_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
