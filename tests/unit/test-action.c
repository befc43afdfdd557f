/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "ui/state/action.h"

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

static void no_key_has_two_meanings(void **state UNUSED)
{
	struct keymap keymap;
	keymap_init(&keymap);
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		for (size_t k = 0; k < ACTION_KEYS && info->keys[k]; k++)
			assert_int_equal(keymap_action(&keymap, info->keys[k]), i);
	}
	assert_int_equal(keymap_action(&keymap, KEY_CODE_NONE), ACTION_NONE);
	assert_int_equal(keymap_action(&keymap, KEY_CODE_ESCAPE), ACTION_NONE);
}

static void a_user_binds_keys(void **state UNUSED)
{
	struct keymap keymap;
	keymap_init(&keymap);
	assert_int_equal(keymap_bind(&keymap, "stop=X", NULL), 0);
	assert_int_equal(keymap_action(&keymap, 'X'), ACTION_STOP);
	assert_int_equal(keymap_action(&keymap, 'x'), ACTION_NONE);
	/* Another one is added. */
	assert_int_equal(keymap_bind(&keymap, "stop=F2", NULL), 0);
	assert_int_equal(keymap_action(&keymap, KEY_CODE_F1 + 1), ACTION_STOP);
	assert_int_equal(keymap_action(&keymap, 'X'), ACTION_STOP);
	/* A key has one meaning, the last one. */
	assert_int_equal(keymap_bind(&keymap, "down==", NULL), 0);
	assert_int_equal(keymap_bind(&keymap, "up=k", NULL), 0);
	assert_int_equal(keymap_bind(&keymap, "start=k", NULL), 0);
	assert_int_equal(keymap_action(&keymap, 'k'), ACTION_START);
	assert_int_equal(keymap_action(&keymap, '='), ACTION_DOWN);
	assert_int_equal(keymap.keys[ACTION_UP][0], KEY_CODE_NONE);
}

static void a_wrong_binding_changes_nothing(void **state UNUSED)
{
	static const char *const bad[] = { "",        "stop",       "stop=",  "=x",      "halt=x",
					   "stop=xx", "stop=Ctrl-", "Stop=x", "stop =x", "\033=x" };
	struct keymap keymap, before;
	keymap_init(&keymap);
	before = keymap;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(keymap_bind(&keymap, bad[i], &err), -1);
		assert_null(strchr(err.message, '\033'));
		assert_memory_equal(&keymap, &before, sizeof(keymap));
	}
	/* Nobody is locked in. */
	assert_int_equal(keymap_bind(&keymap, "stop=q", NULL), 0);
	assert_int_equal(keymap_bind(&keymap, "start=Ctrl-C", NULL), -1);
	assert_int_equal(keymap_action(&keymap, 'C' & KEY_CODE_CTRL), ACTION_QUIT);
	for (int i = 0; i < ACTION_KEYS; i++)
		assert_int_equal(
			keymap_bind(&keymap,
				    (const char *const[]){ "open=1", "open=2", "open=3" }[i], NULL),
			0);
	assert_int_equal(keymap_bind(&keymap, "open=4", NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_says_what_it_is),
		cmocka_unit_test(no_key_has_two_meanings),
		cmocka_unit_test(a_user_binds_keys),
		cmocka_unit_test(a_wrong_binding_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
