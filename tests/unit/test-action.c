/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "model/keys/action.h"

#include <string.h>

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

static void an_action_has_a_name(void **state UNUSED)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const char *name = action_info((enum action)i)->name;
		assert_int_equal(action_named(name, strlen(name)), i);
		assert_int_equal(action_named(name, strlen(name) - 1), ACTION_NONE);
		assert_int_not_equal(action_info((enum action)i)->contexts, 0);
	}
	assert_int_equal(action_named("", 0), ACTION_NONE);
	assert_int_equal(action_info(ACTION_NONE)->contexts, 0);
	assert_int_equal(action_info(ACTION_STOP)->contexts, CONTEXT_LIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_says_what_it_is),
		cmocka_unit_test(an_action_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
