/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/scratch.h"

#include "capsule/record.h"

static void a_record_reads_as_it_was_written(void **state UNUSED)
{
	const struct frame_status status = { FRAME_ENDED, { "0b-1.x", 2 }, 0, 9, true };
	struct frame_status got;
	assert_int_equal(record_write(here, &status, NULL), 0);
	assert_int_equal(record_read(here, &got, NULL), 0);
	assert_int_equal(got.phase, FRAME_ENDED);
	assert_true(frame_same_attempt(&got.attempt, &status.attempt));
	assert_int_equal(got.code, 0);
	assert_int_equal(got.signal, 9);
	assert_true(got.by_stop);
	cleanup_free char *text = get("exit.json");
	assert_string_equal(text, "{\"run\":\"0b-1.x\",\"attempt\":2,\"by\":\"stop\",\"code\":0,"
				  "\"signal\":9}\n");
}

static void no_record_is_an_outcome(void **state UNUSED)
{
	struct frame_status got;
	assert_int_equal(record_read(here, &got, NULL), FS_ABSENT);
}

static void what_another_wrote_is_refused(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"{}",
		"{\"run\":\"a\",\"attempt\":2,\"by\":\"me\",\"code\":0,\"signal\":9}\n",
		"{\"run\":\"a\",\"attempt\":2,\"by\":\"stop\",\"code\":256,\"signal\":9}\n",
		"{\"run\":\"a b\",\"attempt\":2,\"by\":\"stop\",\"code\":0,\"signal\":9}\n",
		"{\"run\":\"a\",\"attempt\":2,\"by\":\"stop\",\"code\":0,\"signal\":9}\n\n",
		"{\"run\":\"a\",\"attempt\":2,\"by\":\"stop\",\"code\":0,\"signal\":9",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_error struct error err = { 0 };
		struct frame_status got;
		put("exit.json", texts[i]);
		assert_int_equal(record_read(here, &got, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
	}
}

static void a_run_is_a_plain_word(void **state UNUSED)
{
	assert_true(record_is_run("f47ac10b-58cc-4372-a567-0e02b2c3d479"));
	assert_false(record_is_run(""));
	assert_false(record_is_run("a\"b"));
	assert_false(record_is_run("a/b"));
	assert_false(record_is_run("0123456789012345678901234567890123456789"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_reads_as_it_was_written, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_record_is_an_outcome, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_another_wrote_is_refused, set_up, tear_down),
		cmocka_unit_test(a_run_is_a_plain_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
