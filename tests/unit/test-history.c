/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "capsule/history.h"

#include <string.h>

static struct history history;

static int begin(void **state UNUSED)
{
	history_init(&history);
	return 0;
}

static int end(void **state UNUSED)
{
	history_free(&history);
	return 0;
}

static void add(const char *text)
{
	history_add(&history, text, strlen(text));
}

/* Many lines, so that what was before is cut away. */
static void add_much(void)
{
	for (int i = 0; i < 2 * HISTORY_KEEP / 10 + 10; i++)
		add("123456789\n");
}

static char *replay(bool again)
{
	struct strbuf out = { 0 };
	history_replay(&history, again, &out);
	return strbuf_take(&out);
}

static void check(bool again, const char *expected)
{
	cleanup_free char *got = replay(again);
	assert_string_equal(got, expected);
}

static void the_first_window_gets_all_as_it_was(void **state UNUSED)
{
	check(false, "");
	add("hello\033[6n\033[?2004h");
	check(false, "hello\033[6n\033[?2004h");
}

static void a_later_window_is_reset_first(void **state UNUSED)
{
	check(true, "\033c");
	add("hello");
	check(true, "\033chello");
}

static void a_later_window_answers_no_query_again(void **state UNUSED)
{
	add("a\033[cb\033[>cc\033[6nd\033[?6ne\033[?2026$pf\033[>qg\033[?uh\033[18ti\033]10;?\033\\j"
	    "\033]11;?\ak\033P+q544e\033\\l\033P$qm\033\\m\005n\033Zo\033[?1;1;0Sp\033[xq");
	check(true, "\033cabcdefghijklmnopq");
}

static void what_only_looks_like_a_query_stays(void **state UNUSED)
{
	const char *text = "\033[31m\033[>4;2m\033[1t\033]0;why?\a\033[2 q\033[u\033[3S\033[!p"
			   "\033[>4n\033]8;;http://a/?b\033\\";
	cleanup_free char *expected = xasprintf("\033c%s", text);
	add(text);
	check(true, expected);
}

static void a_sequence_in_parts_is_one_sequence(void **state UNUSED)
{
	static const char text[] = "a\033[?1;2cb\033]10;?\033\\c";
	for (size_t i = 0; text[i]; i++)
		history_add(&history, text + i, 1);
	check(true, "\033cabc");
	/* What is not complete yet is passed on, since the rest will come. */
	add("\033[6");
	check(true, "\033cabc\033[6");
}

static void a_cut_history_begins_after_a_line_with_the_modes(void **state UNUSED)
{
	add("\033[?1h\033=\033[?25l\033[?1000;1006h\033[?2004h\033[?1004h\033[>4;1m\033]2;title\a");
	add_much();
	cleanup_free char *got = replay(false);
	const char *modes = "\033c\033[?1h\033[?25l\033[?1000h\033[?1004h\033[?1006h\033[?2004h\033="
			    "\033[>4;1m\033]2;title\a1";
	assert_memory_equal(got, modes, strlen(modes));
	assert_true(strlen(got) >= HISTORY_KEEP - 10);
	assert_true(strlen(got) < 2 * HISTORY_KEEP + 200);
}

static void modes_that_were_unset_are_not_sent(void **state UNUSED)
{
	add("\033[?1h\033=\033[?25l\033[?1049h\033[?1049l\033[?1l\033>\033[?25h");
	add_much();
	cleanup_free char *got = replay(false);
	assert_memory_equal(got, "\033c123456789\n", 12);
}

static void a_reset_forgets_the_modes(void **state UNUSED)
{
	add("\033[?1h\033[?2004h\033c");
	add_much();
	cleanup_free char *got = replay(false);
	assert_memory_equal(got, "\033c123456789\n", 12);
}

static void a_cut_history_begins_at_a_clear_screen_if_it_can(void **state UNUSED)
{
	add_much();
	add("garbage\033[?2026hframe\033[H\033[2Jscreen");
	check(false, "\033c\033[2Jscreen");
}

static void a_cut_history_begins_at_the_alternate_screen_if_it_can(void **state UNUSED)
{
	add("\033[?1h");
	add_much();
	add("shell$ vi\033[?1049hscreen");
	check(false, "\033c\033[?1h\033[?1049hscreen");
}

static void else_at_a_synchronized_update(void **state UNUSED)
{
	add_much();
	add("garbage\033[?2026hframe 1\033[?2026l\033[?2026hframe 2");
	check(false, "\033c\033[?2026hframe 1\033[?2026l\033[?2026hframe 2");
}

static void the_alternate_screen_before_the_cut_is_entered(void **state UNUSED)
{
	add("\033[?1049h");
	add_much();
	cleanup_free char *got = replay(true);
	assert_memory_equal(got, "\033c\033[?1049h123", 13);
}

static void a_cut_is_never_inside_a_character_or_a_sequence(void **state UNUSED)
{
	/* Without lines: cut after a sequence. */
	for (int i = 0; i < 2 * HISTORY_KEEP / 10; i++)
		add("\033[31m\xe2\x82\xac\033[0m");
	cleanup_free char *got = replay(false);
	assert_memory_equal(got, "\033c", 2);
	assert_true(starts_with(got + 2, "\033[31m") || starts_with(got + 2, "\xe2\x82\xac"));
	assert_true(is_utf8(got, strlen(got)));
}

static void a_sequence_without_an_end_is_dropped(void **state UNUSED)
{
	add("\033P");
	for (int i = 0; i < 2 * HISTORY_KEEP / 10 + 10; i++)
		add("0123456789");
	cleanup_free char *got = replay(false);
	assert_true(strlen(got) < HISTORY_KEEP);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(the_first_window_gets_all_as_it_was),
		TEST(a_later_window_is_reset_first),
		TEST(a_later_window_answers_no_query_again),
		TEST(what_only_looks_like_a_query_stays),
		TEST(a_sequence_in_parts_is_one_sequence),
		TEST(a_cut_history_begins_after_a_line_with_the_modes),
		TEST(modes_that_were_unset_are_not_sent),
		TEST(a_reset_forgets_the_modes),
		TEST(a_cut_history_begins_at_a_clear_screen_if_it_can),
		TEST(a_cut_history_begins_at_the_alternate_screen_if_it_can),
		TEST(else_at_a_synchronized_update),
		TEST(the_alternate_screen_before_the_cut_is_entered),
		TEST(a_cut_is_never_inside_a_character_or_a_sequence),
		TEST(a_sequence_without_an_end_is_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
