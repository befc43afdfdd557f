/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The identity of a host that an engine makes, and when its next incarnation may start.
 */
#include "unit/scratch.h"

#include "base/fsutil.h"
#include "base/machine.h"
#include "engine/deck/deck.h"
#include "engine/deck/incarnation.h"

#include <sys/stat.h>

#define OTHER_BOOT "11111111-2222-4333-8444-555555555555"
#define HOST       "0f0e0d0c-6dba-4234-a02f-8f88aba66dbb"

static struct incarnation of_here(void)
{
	const struct machine_stamp stamp = machine_stamp();
	return (struct incarnation){ .host = (char *)HOST,
				     .id = (char *)"a",
				     .boot_id = (char *)stamp.boot_id,
				     .pid_namespace = (char *)stamp.pid_namespace,
				     .runtime = (char *)"/tmp/agentdeck-a" };
}

static void what_is_written_is_read(void **state UNUSED)
{
	struct incarnation written = of_here();
	written.name = (char *)"pod";
	written.beat = 7;
	written.lease_s = 20;
	cleanup_incarnation struct incarnation read = { 0 };
	assert_int_equal(incarnation_read(scratch, &read, NULL), INCARNATION_NONE);
	assert_int_equal(incarnation_write(scratch, &written, NULL), 0);
	assert_int_equal(incarnation_read(scratch, &read, NULL), 0);
	assert_string_equal(read.host, HOST);
	assert_string_equal(read.name, "pod");
	assert_null(read.machine);
	assert_int_equal(read.beat, 7);
	assert_true(read.lease_s == 20 && !read.is_over && !read.is_first);
	assert_true(incarnation_is_here(&read));
}

static void what_is_late_changes_nothing_of_its_successor(void **state UNUSED)
{
	struct incarnation before = of_here(), after = of_here();
	cleanup_incarnation struct incarnation read = { 0 };
	after.id = (char *)"b";
	assert_int_equal(incarnation_write(scratch, &before, NULL), 0);
	assert_int_equal(incarnation_say(scratch, "a", 9, NULL), 0);
	assert_int_equal(incarnation_read(scratch, &read, NULL), 0);
	assert_int_equal(read.beat, 9);
	incarnation_clear(&read);
	assert_int_equal(incarnation_write(scratch, &after, NULL), 0);
	assert_int_equal(incarnation_say(scratch, "a", 10, NULL), INCARNATION_NONE);
	assert_int_equal(incarnation_say(scratch, "a", INCARNATION_OVER, NULL), INCARNATION_NONE);
	assert_int_equal(incarnation_read(scratch, &read, NULL), 0);
	assert_string_equal(read.id, "b");
	assert_true(read.beat == 0 && !read.is_over);
	assert_int_equal(incarnation_say(scratch, "b", INCARNATION_OVER, NULL), 0);
	incarnation_clear(&read);
	assert_int_equal(incarnation_read(scratch, &read, NULL), 0);
	assert_true(read.is_over);
}

static void an_earlier_version_had_the_usual_lease(void **state UNUSED)
{
	static const char text[] =
		"{\"host\": \"h\", \"id\": \"a\", \"runtime\": \"/r\", \"leased\": true}";
	static const char wrong[] =
		"{\"host\": \"h\", \"id\": \"a\", \"runtime\": \"/r\", \"leased\": true, \"lease_s\": -1}";
	const char *const texts[] = { text, wrong };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_incarnation struct incarnation read = { 0 };
		put("main.json", texts[i]);
		assert_int_equal(incarnation_read(scratch, &read, NULL), 0);
		assert_int_equal(read.lease_s, INCARNATION_LEASE_S);
	}
}

/* A new file would need space on the disk. */
static void a_beat_stays_in_its_file(void **state UNUSED)
{
	struct incarnation incarnation = of_here();
	cleanup_free char *path = path_join(scratch, "main-a.beat");
	struct stat before, after;
	assert_int_equal(incarnation_write(scratch, &incarnation, NULL), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(incarnation_say(scratch, "a", INT64_MAX, NULL), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_size, after.st_size);
}

static void what_is_not_known_is_not_here(void **state UNUSED)
{
	struct incarnation incarnation = of_here();
	assert_true(incarnation_is_here(&incarnation));
	incarnation.pid_namespace = NULL;
	assert_false(incarnation_is_here(&incarnation));
	incarnation = of_here();
	incarnation.boot_id = NULL;
	assert_false(incarnation_is_here(&incarnation));
}

static void a_successor_waits_until_the_other_is_proven_gone(void **state UNUSED)
{
	const struct incarnation none = { 0 };
	struct incarnation before = of_here();
	assert_int_equal(incarnation_wait_s(&none, false), 0);
	/* Of this namespace: its processes can be seen. */
	assert_int_equal(incarnation_wait_s(&before, false), 0);
	/* The kernel has ended its PID 1. */
	before.pid_namespace = (char *)"4026532178:57341";
	assert_int_equal(incarnation_wait_s(&before, false), INCARNATION_UNKNOWN);
	before.is_first = true;
	assert_int_equal(incarnation_wait_s(&before, false), INCARNATION_KILLED_S);
	/* Another machine. */
	before.boot_id = (char *)OTHER_BOOT;
	assert_int_equal(incarnation_wait_s(&before, false), INCARNATION_UNKNOWN);
	before.lease_s = 20;
	assert_int_equal(incarnation_wait_s(&before, false), 50);
	assert_int_equal(incarnation_wait_s(&before, true), 0);
	before.is_over = true;
	assert_int_equal(incarnation_wait_s(&before, false), 0);
}

static void a_process_of_another_incarnation_changes_nothing(void **state UNUSED)
{
	struct deck deck = { .paths.state = scratch };
	struct incarnation now = of_here();
	assert_int_equal(deck_check_main(&deck, NULL), 0);
	assert_int_equal(incarnation_write(scratch, &now, NULL), 0);
	/* It has joined none. */
	assert_int_equal(deck_check_main(&deck, NULL), -1);
	deck.incarnation = (char *)"a";
	assert_int_equal(deck_check_main(&deck, NULL), 0);
	now.pid_namespace = (char *)"1:1";
	assert_int_equal(incarnation_write(scratch, &now, NULL), 0);
	assert_int_equal(deck_check_main(&deck, NULL), -1);
	now = of_here();
	now.id = (char *)"b";
	assert_int_equal(incarnation_write(scratch, &now, NULL), 0);
	assert_int_equal(deck_check_main(&deck, NULL), -1);
	deck.incarnation = (char *)"b";
	assert_int_equal(deck_check_main(&deck, NULL), 0);
	assert_int_equal(incarnation_say(scratch, "b", INCARNATION_OVER, NULL), 0);
	assert_int_equal(deck_check_main(&deck, NULL), -1);
}

/* The last one: this process keeps the id. */
static void another_incarnation_of_an_adopted_host_has_ended(void **state UNUSED)
{
	struct machine_stamp run = machine_stamp();
	const char *own = run.id;
	run.pid_namespace = "1:1";
	run.id = HOST;
	assert_int_equal(machine_relation(&run), MACHINE_OTHER);
	machine_adopt(HOST);
	assert_string_equal(machine_id(), HOST);
	assert_int_equal(machine_relation(&run), MACHINE_EARLIER_BOOT);
	run.boot_id = OTHER_BOOT;
	assert_int_equal(machine_relation(&run), MACHINE_EARLIER_BOOT);
	run.pid_namespace = machine_pid_namespace();
	run.boot_id = machine_stamp().boot_id;
	assert_int_equal(machine_relation(&run), MACHINE_THIS_BOOT);
	/* What ran there without the main program is not of this host. */
	run.id = own;
	run.pid_namespace = "1:1";
	assert_int_equal(machine_relation(&run), MACHINE_OTHER);
	run.id = NULL;
	run.boot_id = OTHER_BOOT;
	assert_int_equal(machine_relation(&run), MACHINE_OTHER);
	assert_int_equal(machine_relation(&(struct machine_stamp){ 0 }), MACHINE_EARLIER_BOOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_late_changes_nothing_of_its_successor,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_earlier_version_had_the_usual_lease, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_beat_stays_in_its_file, set_up, tear_down),
		cmocka_unit_test(what_is_not_known_is_not_here),
		cmocka_unit_test(a_successor_waits_until_the_other_is_proven_gone),
		cmocka_unit_test_setup_teardown(a_process_of_another_incarnation_changes_nothing,
						set_up, tear_down),
		cmocka_unit_test(another_incarnation_of_an_adopted_host_has_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
