/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "ui/state/action.h"

static void every_action_says_what_it_is(void **state UNUSED)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		assert_false(is_empty(info->name));
		assert_false(is_empty(info->help));
		assert_int_not_equal(info->keys[0], KEY_CODE_NONE);
		for (size_t k = ACTION_NONE + 1; k < i; k++)
			assert_string_not_equal(info->name, action_info((enum action)k)->name);
	}
}

static void no_key_has_two_meanings(void **state UNUSED)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		for (size_t k = 0; k < ACTION_KEYS && info->keys[k]; k++)
			assert_int_equal(action_of_key(info->keys[k]), i);
	}
	assert_int_equal(action_of_key(KEY_CODE_NONE), ACTION_NONE);
	assert_int_equal(action_of_key(KEY_CODE_ESCAPE), ACTION_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_says_what_it_is),
		cmocka_unit_test(no_key_has_two_meanings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
