/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/agent/box.h"

static enum box_holds compare(const char *input, const char *text, char **ret_before)
{
	struct agent agent = { .guard = (char[]){ " " } };
	strvec_push(&agent.pasted, "\\[Pasted #[0-9]+ \\+([0-9]+) lines\\]");
	strvec_push(&agent.pasted, "\\[Cut #[0-9]+\\]");
	const enum box_holds holds = box_compare(&agent, input, text, ret_before);
	strvec_clear(&agent.pasted);
	return holds;
}

static void check(const char *input, const char *text, enum box_holds expected, const char *before)
{
	cleanup_free char *found = NULL;
	const enum box_holds holds = compare(input, text, &found);
	if (holds != expected || !streq(or_empty(found), before))
		fail_msg("'%s' for '%s': %d, '%s'", input, text, (int)holds, or_empty(found));
}

static void our_text_alone_is_our_text(void **state UNUSED)
{
	check("RACE", "RACE", BOX_TEXT, "");
	check("", "RACE", BOX_EMPTY, "");
	check("RA", "RACE", BOX_PART, "");
	check("race", "RACE", BOX_OTHER, "");
	check(NULL, "RACE", BOX_OTHER, "");
}

static void a_draft_with_our_text_is_not_our_text(void **state UNUSED)
{
	check("my draftRACE", "RACE", BOX_BEHIND, "mydraft");
	check("RACEmy draft", "RACE", BOX_OTHER, "");
	check("RAmy draftCE", "RACE", BOX_OTHER, "");
	check("日本RACE", "RACE", BOX_BEHIND, "日本");
}

static void lines_break_where_they_like(void **state UNUSED)
{
	check("one two th\n  ree", "one two three", BOX_TEXT, "");
	check("one\n  two", "one\n\ttwo\n", BOX_TEXT, "");
	check("日本\n  語", "日本語", BOX_TEXT, "");
	check("ok ☝", "ok ☝\ufe0f ", BOX_TEXT, "");
	check("\u00a0one\u200b", "one", BOX_TEXT, "");
	check("softword and join", "\ufeffsoft\u00adword\u3000and\u2009join\u2060", BOX_TEXT, "");
}

static void a_letter_and_its_mark_may_be_one_character(void **state UNUSED)
{
	check("café", "cafe\u0301", BOX_TEXT, "");
	check("Việt", "Vi\x65\u0323\u0302t", BOX_TEXT, "");
	check("한글 x", "\u1112\u1161\u11ab\u1100\u1173\u11af x", BOX_TEXT, "");
	check("日本café", "cafe\u0301", BOX_BEHIND, "\x04\x04");
	check("café日本", "cafe\u0301", BOX_OTHER, "");
	check("cafe", "cafe\u0301", BOX_OTHER, "");
	/* Without a mark each character counts. */
	check("cafè", "café", BOX_OTHER, "");
}

static void our_text_may_look_like_a_placeholder(void **state UNUSED)
{
	check("why [Pasted #1\n +7 lines]?", "why [Pasted #1 +7 lines]?", BOX_TEXT, "");
}

static void a_box_that_has_scrolled_shows_a_part(void **state UNUSED)
{
	static const char text[] = "1\n2\n3\n4\n5\n6\n7\n8";
	check("4\n 5\n 6\n 7\n 8", text, BOX_TEXT, "");
	check("6\n 7\n 8", text, BOX_OTHER, "");
	check("4\n 5\n 6\n 7\n 8my draft", text, BOX_OTHER, "");
	check("1\n 2\n 3\n 4\n 5", text, BOX_PART, "");
}

static void a_placeholder_of_its_size_is_our_text(void **state UNUSED)
{
	check("[Pasted #1 +2 lines]", "a\nb\nc", BOX_TEXT, "");
	check("[Pasted #2 +3\n lines]", "a\nb\nc", BOX_TEXT, "");
	check("[Pasted #1 +7 lines]", "a\nb\nc", BOX_OTHER, "");
	/* so many characters, as JavaScript counts them */
	check("[Pasted #1 +6 lines]", "ab 😀c", BOX_TEXT, "");
	/* and with the guard behind it */
	check("[Pasted #1 +5 lines]", "ab\\\\", BOX_TEXT, "");
	check("[Pasted #1 +7 lines][Pasted #2 +2 lines]", "a\nb\nc", BOX_BEHIND, "\x03");
	check("draft [Pasted #2 +2 lines]", "a\nb\nc", BOX_BEHIND, "draft");
	check("a [Pasted #2 +2 lines]", "a\nb\nc", BOX_BEHIND, "a");
	check("[Pasted #2 +2 lines] draft", "a\nb\nc", BOX_OTHER, "");
}

static void a_placeholder_without_a_size_is_a_part(void **state UNUSED)
{
	check("abc [Cut #1] xyz", "abc and much more xyz", BOX_TEXT, "");
	check("abc [Cut #1] draft", "abc and much more xyz", BOX_OTHER, "");
	check("[Cut #1][Cut #2]", "abc", BOX_BEHIND, "\x02");
	check("abcxyz[Cut #1]", "abcxyz", BOX_BEHIND, "abcxyz");
}

static void keys_are_counted_only_where_each_takes_one_character(void **state UNUSED)
{
	assert_int_equal(box_key_count("a b\nc"), 5);
	assert_int_equal(box_key_count("é"), 1);
	assert_int_equal(box_key_count("a\tb"), 0);
	assert_int_equal(box_key_count("e\u0301"), 0);
	assert_int_equal(box_key_count("👍🏽"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_text_alone_is_our_text),
		cmocka_unit_test(a_draft_with_our_text_is_not_our_text),
		cmocka_unit_test(lines_break_where_they_like),
		cmocka_unit_test(a_letter_and_its_mark_may_be_one_character),
		cmocka_unit_test(our_text_may_look_like_a_placeholder),
		cmocka_unit_test(a_box_that_has_scrolled_shows_a_part),
		cmocka_unit_test(a_placeholder_of_its_size_is_our_text),
		cmocka_unit_test(a_placeholder_without_a_size_is_a_part),
		cmocka_unit_test(keys_are_counted_only_where_each_takes_one_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
