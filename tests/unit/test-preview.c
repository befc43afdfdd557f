/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/painting.h"
#include "unit/test.h"

#include "base/macro.h"
#include "ui/state/preview.h"

#include <string.h>

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
	/* What has happened since it was looked at is not in it. */
	assert_true(preview_set(&preview, PREVIEW_SCREEN, "a", "other"));
	assert_true(preview_is_due(&preview, "a"));
	preview.is_stale = false;
	preview.kind = PREVIEW_LOG;
	assert_true(preview_is_due(&preview, "a"));
	preview_free(&preview);
}

static void the_same_is_no_news(void **state UNUSED)
{
	struct preview preview = { 0 };
	assert_true(preview_set(&preview, PREVIEW_SCREEN, "a", "one\n\033[2Jtwo\n\n"));
	cleanup_free char *text = painting_text(&preview.painting);
	assert_string_equal(text, "one\ntwo\n");
	assert_false(preview_set(&preview, PREVIEW_SCREEN, "a", "one\n\033[2Jtwo\n\n"));
	assert_true(preview_set(&preview, PREVIEW_SCREEN, "b", "one\n\033[2Jtwo\n\n"));
	assert_true(preview_set(&preview, PREVIEW_REPLY, "b", "one\n\033[2Jtwo\n\n"));
	assert_true(preview_set(&preview, PREVIEW_REPLY, "b", ""));
	assert_int_equal(preview.painting.count, 0);
	preview_free(&preview);
}

/* A kill may cut off the last line of a process, and another one goes on behind it. */
static void a_line_of_the_log_may_be_cut_off(void **state UNUSED)
{
	struct preview preview = { 0 };
	preview_set(&preview, PREVIEW_LOG, "a",
		    "2026-11-25T16:13:16.306Z info launch pid=140\n"
		    "instance=other line\n"
		    "2026-11-25T16:13:16.306Z info launch pid=140 instance=rrgvp5gz ends");
	cleanup_free char *text = painting_text(&preview.painting);
	assert_non_null(strstr(text, " launch:\n"));
	assert_non_null(strstr(text, " launch: ends\n"));
	preview_free(&preview);
}

static void each_kind_is_a_command(void **state UNUSED)
{
	static const char *const expected[PREVIEW_COUNT] = {
		[PREVIEW_SCREEN] = "output --pane id",    [PREVIEW_REPLY] = "output id",
		[PREVIEW_TURNS] = "output --turns 20 id", [PREVIEW_FACTS] = "show id",
		[PREVIEW_LOG] = "logs --lines 100 id",    [PREVIEW_CHANGES] = "changes id",
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
		cmocka_unit_test(the_same_is_no_news),
		cmocka_unit_test(a_line_of_the_log_may_be_cut_off),
		cmocka_unit_test(each_kind_is_a_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
