/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The identity of this machine, and whether a record belongs to it.
 */
#include "unit/scratch.h"

#include "base/machine.h"
#include "base/process.h"

#include <string.h>

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

static void a_run_is_of_this_boot_an_earlier_one_or_another_machine(void **state UNUSED)
{
	static const char other_boot[] = "11111111-2222-4333-8444-555555555555",
			  other[] = "11111111222243338444555555555555";
	const char *boot = process_boot_id(), *own = machine_id();
	assert_int_equal(machine_relation(boot, own), MACHINE_THIS_BOOT);
	assert_int_equal(machine_relation(other_boot, own), MACHINE_EARLIER_BOOT);
	assert_int_equal(machine_relation(other_boot, other), MACHINE_OTHER);
	/* Recorded before there were machine ids, or on a machine without one. */
	assert_int_equal(machine_relation(boot, NULL), MACHINE_THIS_BOOT);
	assert_int_equal(machine_relation(other_boot, NULL), MACHINE_EARLIER_BOOT);
	assert_int_equal(machine_relation(NULL, NULL), MACHINE_EARLIER_BOOT);
	/* Containers of one kernel; if we have no id the boot decides. */
	assert_int_equal(machine_relation(boot, other), *own ? MACHINE_OTHER : MACHINE_THIS_BOOT);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_machine_has_an_id_that_does_not_tell_its_own),
		TEST(a_run_is_of_this_boot_an_earlier_one_or_another_machine),
		TEST(the_id_and_the_host_stay_the_same),
		TEST(the_id_follows_from_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
