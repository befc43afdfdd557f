/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/macro.h"
#include "ui/state/preview.h"

static void it_is_due_for_another_session_or_kind(void **state UNUSED)
{
	struct preview preview = { 0 };
	assert_false(preview_is_due(&preview, "a"));
	preview.kind = PREVIEW_SCREEN;
	assert_true(preview_is_due(&preview, "a"));
	assert_false(preview_is_due(&preview, NULL));
	preview_set(&preview, PREVIEW_SCREEN, "a", "text");
	assert_false(preview_is_due(&preview, "a"));
	assert_true(preview_is_due(&preview, "b"));
	preview.is_stale = true;
	assert_true(preview_is_due(&preview, "a"));
	preview_set(&preview, PREVIEW_SCREEN, "a", "text");
	preview.kind = PREVIEW_LOG;
	assert_true(preview_is_due(&preview, "a"));
	preview_free(&preview);
}

static void lines_move_no_terminal(void **state UNUSED)
{
	struct preview preview = { 0 };
	preview_set(&preview, PREVIEW_SCREEN, "a", "one\n\ta\tb\n\033[2J\n\n\n");
	assert_int_equal(preview.lines.count, 3);
	assert_string_equal(preview.lines.items[0], "one");
	assert_string_equal(preview.lines.items[1], "        a       b");
	assert_string_equal(preview.lines.items[2], "\\033[2J");
	preview_set(&preview, PREVIEW_SCREEN, "a", "");
	assert_int_equal(preview.lines.count, 0);
	preview_free(&preview);
}

static void each_kind_is_a_command(void **state UNUSED)
{
	static const char *const expected[PREVIEW_COUNT] = {
		[PREVIEW_SCREEN] = "output --pane id",
		[PREVIEW_REPLY] = "output id",
		[PREVIEW_FACTS] = "show id",
		[PREVIEW_LOG] = "logs --lines 100 id",
	};
	for (size_t i = PREVIEW_NONE + 1; i < PREVIEW_COUNT; i++) {
		cleanup_strvec struct strvec words = { 0 };
		preview_add_words((enum preview_kind)i, "id", &words);
		cleanup_free char *text = visible_argv(strvec_argv(&words));
		assert_string_equal(text, expected[i]);
		assert_true(*preview_name((enum preview_kind)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_due_for_another_session_or_kind),
		cmocka_unit_test(lines_move_no_terminal),
		cmocka_unit_test(each_kind_is_a_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
