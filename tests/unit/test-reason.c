/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/reason.h"

#include "base/text.h"
#include "unit/test.h"

static void each_reason_has_a_word_that_means_it(void **state UNUSED)
{
	for (int i = REASON_OTHER + 1; i < REASON_COUNT; i++) {
		const char *name = reason_name((enum reason)i);
		assert_non_null(name);
		assert_int_equal(reason_of_name(name), i);
	}
}

static void what_has_no_word_has_none(void **state UNUSED)
{
	assert_null(reason_name(REASON_NONE));
	assert_null(reason_name(REASON_OTHER));
	assert_int_equal(reason_of_name("of_another_version"), REASON_OTHER);
	assert_int_equal(reason_of_name(""), REASON_OTHER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_has_a_word_that_means_it),
		cmocka_unit_test(what_has_no_word_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
