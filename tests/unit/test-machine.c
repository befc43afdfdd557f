/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The identity of this machine, and whether a record belongs to it.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/machine.h"
#include "base/process.h"

#include <limits.h>
#include <string.h>

#define OTHER_BOOT "11111111-2222-4333-8444-555555555555"

enum { RELATION_STATUS = 10 };

/* As Python's uuid.uuid5() makes it, in the namespace a8415e0b-6c1d-4e72-9f30-27d584e913c6. */
static void a_machine_has_an_id_that_does_not_tell_its_own(void **state UNUSED)
{
	static const char *const none[] = { "",
					    "\n",
					    "uninitialized\n",
					    "00000000000000000000000000000000\n",
					    "3d1219c7c4c5404aaa1f6d2a48adfda",
					    "3d1219c7c4c5404aaa1f6d2a48adfda45\n",
					    "3D1219C7C4C5404AAA1F6D2A48ADFDA4\n" };
	char id[MACHINE_ID_SIZE] = "before";
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(machine_derive_id(none[i], id));
	assert_string_equal(id, "before");
	assert_true(machine_derive_id("3d1219c7c4c5404aaa1f6d2a48adfda4\n", id));
	assert_string_equal(id, "10e61e77-6dba-5234-a02f-8f88aba66dbb");
}

static enum machine_relation relation_of(const char *boot_id, const char *id,
					 const char *pid_namespace)
{
	const struct machine_stamp written = { boot_id, id, pid_namespace, NULL };
	return machine_relation(&written);
}

static void a_run_is_of_this_boot_an_earlier_one_or_another_machine(void **state UNUSED)
{
	static const char other_boot[] = OTHER_BOOT, other[] = "11111111222243338444555555555555";
	const char *boot = process_boot_id(), *own = machine_id();
	assert_int_equal(relation_of(boot, own, NULL), MACHINE_THIS_BOOT);
	assert_int_equal(relation_of(other_boot, own, NULL), MACHINE_EARLIER_BOOT);
	assert_int_equal(relation_of(other_boot, other, NULL), MACHINE_OTHER);
	/* Recorded before there were machine ids, or on a machine without one. */
	assert_int_equal(relation_of(boot, NULL, NULL), MACHINE_THIS_BOOT);
	assert_int_equal(relation_of(other_boot, NULL, NULL), MACHINE_EARLIER_BOOT);
	assert_int_equal(relation_of(NULL, NULL, NULL), MACHINE_EARLIER_BOOT);
	/* Containers of one kernel; if we have no id the boot decides. */
	assert_int_equal(relation_of(boot, other, NULL), *own ? MACHINE_OTHER : MACHINE_THIS_BOOT);
}

static void a_run_of_another_pid_namespace_is_not_ours(void **state UNUSED)
{
	static const char *const others[] = { "1:1", "1", "", "0", "words", "1:", "1:1:1", ":1" };
	const char *boot = process_boot_id(), *own = machine_id(), *space = machine_pid_namespace();
	const size_t inode = strcspn(space, ":");
	cleanup_free char *without_start = xstrndup(space, inode);
	cleanup_free char *reused = xasprintf("%s:18446744073709551615", without_start);
	assert_int_equal(relation_of(boot, own, space), MACHINE_THIS_BOOT);
	assert_int_equal(relation_of(boot, NULL, space), MACHINE_THIS_BOOT);
	/* One of them could not see PID 1. */
	assert_int_equal(relation_of(boot, own, without_start), MACHINE_THIS_BOOT);
	assert_int_equal(relation_of(boot, own, reused),
			 space[inode] ? MACHINE_OTHER : MACHINE_THIS_BOOT);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(relation_of(boot, NULL, others[i]),
				 *others[i] ? MACHINE_OTHER : MACHINE_THIS_BOOT);
}

static void a_container_without_an_id_was_not_certainly_here(void **state UNUSED)
{
	const char *own = is_empty(machine_id()) ? NULL : machine_id();
	const enum machine_relation lasting = machine_is_lasting() ? MACHINE_EARLIER_BOOT
								   : MACHINE_OTHER;
	assert_int_equal(relation_of(OTHER_BOOT, NULL, "4026532178:57341"), MACHINE_OTHER);
	assert_int_equal(relation_of(OTHER_BOOT, NULL, "4026531836:13"), lasting);
	if (own)
		assert_int_equal(relation_of(OTHER_BOOT, own, "4026532178:57341"), lasting);
}

/* This program, in a PID namespace of its own, about a record of this one. */
static enum machine_relation relation_inside(const char *boot_id, const char *id,
					     const char *pid_namespace)
{
	static const char *const user[] = { "--user", "--map-root-user" };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	char own[PATH_MAX] = "";
	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	strvec_push_array(&argv, (const char *const[]){ "unshare", "--mount", "--pid", "--fork",
							"--mount-proc", NULL });
	for (size_t i = 0; geteuid() != 0 && i < ARRAY_SIZE(user); i++)
		strvec_push(&argv, user[i]);
	strvec_push_array(&argv, (const char *const[]){ own, "relation", boot_id, id, pid_namespace,
							NULL });
	const struct child_request request = { .argv = (const char *const *)argv.items };
	assert_int_equal(child_run(&request, 10000, &result, NULL), 0);
	if (result.exit_status < RELATION_STATUS)
		fail_msg("%s", strbuf_text(&result.errors));
	return (enum machine_relation)(result.exit_status - RELATION_STATUS);
}

static void processes_of_another_pid_namespace_are_unknown_not_dead(void **state UNUSED)
{
	const char *boot = process_boot_id(), *own = machine_id(), *space = machine_pid_namespace();
	assert_int_equal(relation_inside(boot, own, space), MACHINE_OTHER);
	/* Both containers have no machine id. */
	assert_int_equal(relation_inside(boot, "", space), MACHINE_OTHER);
	/* An image's machine id, on another machine. */
	assert_int_equal(relation_inside(OTHER_BOOT, own, space), MACHINE_OTHER);
	/* Of a version that wrote no namespace. */
	assert_int_equal(relation_inside(boot, own, ""), MACHINE_THIS_BOOT);
}

static void another_machine_has_a_name_for_people(void **state UNUSED)
{
	static const char other[] = "11111111-2222-4333-8444-555555555555";
	cleanup_free char *unnamed = machine_name(&(struct machine_stamp){ 0 });
	cleanup_free char *named = machine_name(&(struct machine_stamp){ .host = "box2" });
	cleanup_free char *space = machine_name(
		&(struct machine_stamp){ .id = machine_id(), .host = machine_host() });
	cleanup_free char *new_id = machine_name(
		&(struct machine_stamp){ .id = other, .host = machine_host() });
	assert_string_equal(unnamed, "another machine");
	assert_string_equal(named, "box2");
	assert_non_null(strstr(space, "(another PID namespace)"));
	assert_non_null(strstr(new_id, "(another machine id)"));
}

static void the_id_and_the_host_stay_the_same(void **state UNUSED)
{
	char name[256] = "", copy[MACHINE_ID_SIZE];
	const char *id = machine_id();
	(void)snprintf(copy, sizeof(copy), "%s", id);
	assert_ptr_equal(machine_id(), id);
	assert_string_equal(machine_id(), copy);
	assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
	assert_string_equal(machine_host(), name);
	const struct machine_stamp stamp = machine_stamp();
	assert_string_equal(stamp.boot_id, process_boot_id());
	assert_string_equal(or_empty(stamp.id), id);
	assert_string_equal(stamp.host, name);
}

static void the_id_follows_from_the_file(void **state UNUSED)
{
	struct strbuf text = { 0 };
	char id[MACHINE_ID_SIZE] = "";
	if (fs_read(AT_FDCWD, "/etc/machine-id", 4096, &text, NULL) == 0)
		(void)machine_derive_id(strbuf_text(&text), id);
	assert_string_equal(machine_id(), id);
	/* and is not what must stay private */
	assert_false(*id && strstr(strbuf_text(&text), id));
	strbuf_free(&text);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	if (argc == 5 && streq(argv[1], "relation"))
		return RELATION_STATUS +
		       (int)relation_of(argv[2], *argv[3] ? argv[3] : NULL, argv[4]);
	const struct CMUnitTest tests[] = {
		TEST(a_machine_has_an_id_that_does_not_tell_its_own),
		TEST(a_run_is_of_this_boot_an_earlier_one_or_another_machine),
		TEST(a_run_of_another_pid_namespace_is_not_ours),
		TEST(a_container_without_an_id_was_not_certainly_here),
		TEST(processes_of_another_pid_namespace_are_unknown_not_dead),
		TEST(another_machine_has_a_name_for_people),
		TEST(the_id_and_the_host_stay_the_same),
		TEST(the_id_follows_from_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
