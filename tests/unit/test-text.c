/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strings, vectors of strings, and text that a terminal may show.
 */
#include "unit/scratch.h"

#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void strbuf_grows_and_is_always_terminated(void **state UNUSED)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	assert_string_equal(strbuf_text(&buf), "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&buf, "%d,", i);
	strbuf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.length, 3890 + 3);
	assert_int_equal(buf.data[buf.length], '\0');
	cleanup_free char *taken = strbuf_take(&buf);
	assert_true(starts_with(taken, "0,1,2,"));
	assert_null(buf.data);
	cleanup_free char *empty = strbuf_take(&buf);
	assert_string_equal(empty, "");
}

static void strvec_is_an_argv_at_any_time(void **state UNUSED)
{
	cleanup_strvec struct strvec vec = { 0 }, other = { 0 };
	assert_null(*strvec_argv(&vec));
	for (int i = 0; i < 100; i++) {
		strvec_pushf(&vec, "%d", i);
		assert_null(vec.items[vec.count]);
	}
	strvec_push_all(&other, &vec);
	assert_true(strvec_equal(&vec, &other));
	strvec_push(&other, "");
	assert_false(strvec_equal(&vec, &other));
	assert_true(strvec_contains(&vec, "99"));
	assert_false(strvec_contains(&vec, "9 "));
}

static void replace_string_takes_a_part_of_what_it_replaces(void **state UNUSED)
{
	cleanup_free char *slot = xstrdup("abcdef");
	replace_string(&slot, slot + 3);
	assert_string_equal(slot, "def");
	replace_string(&slot, NULL);
	assert_null(slot);
}

static void visible_text_cannot_play_with_a_terminal(void **state UNUSED)
{
	static const char *const table[][2] = {
		{ "plain", "plain" },
		{ "Ünï €😀", "Ünï €😀" },
		{ "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "\033[31m", "\\033[31m" },
		{ "\x7f", "\\177" },
		{ "\xc2\x9b"
		  "31m",
		  "\\302\\23331m" }, /* C1: CSI */
		/* what follows reads backwards */
		{ "a\u202eb\u2066c", "a\\342\\200\\256b\\342\\201\\246c" },
		{ "\xff\xfe", "\\377\\376" },
		{ "\xc0\xaf", "\\300\\257" },          /* overlong */
		{ "\xed\xa0\x80", "\\355\\240\\200" }, /* surrogate */
		{ "\xf5\x80\x80\x80", "\\365\\200\\200\\200" },
		{ "\xe2\x82", "\\342\\202" }, /* torn */
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *shown = visible(table[i][0]);
		assert_string_equal(shown, table[i][1]);
		assert_int_equal(is_utf8(table[i][0], strlen(table[i][0])), i < 7);
	}
}

static void an_argv_for_reading_shows_where_words_end(void **state UNUSED)
{
	char *argv[] = { (char *)"a", (char *)"b c", (char *)"", (char *)"\n", NULL };
	cleanup_free char *shown = visible_argv(argv);
	assert_string_equal(shown, "a 'b c' '' '\\n'");
}

static void a_number_is_the_whole_text_in_its_range(void **state UNUSED)
{
	static const char *const bad[] = { "",    " 1", "1 ", "+1", "1x",
					   "0x1", "-6", "11", "-",  "99999999999999999999",
					   "1.0" };
	int64_t value = 77;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(parse_int64(bad[i], -5, 10, &value));
		assert_int_equal(value, 77);
	}
	assert_true(parse_int64("-5", -5, 10, &value));
	assert_int_equal(value, -5);
	assert_true(parse_int64("9223372036854775807", 0, INT64_MAX, &value));
	assert_true(value == INT64_MAX);
}

static void typing_errors_are_counted(void **state UNUSED)
{
	char longest[66];
	assert_int_equal(text_distance("attach", "attach"), 0);
	assert_int_equal(text_distance("atach", "attach"), 1);
	assert_int_equal(text_distance("attachh", "attach"), 1);
	assert_int_equal(text_distance("attabh", "attach"), 1);
	assert_int_equal(text_distance("tsart", "start"), 1);
	assert_int_equal(text_distance("strat", "start"), 1);
	assert_int_equal(text_distance("", "list"), 4);
	assert_int_equal(text_distance("list", ""), 4);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_true(text_distance(longest, "x") == SIZE_MAX);
	assert_int_equal(text_distance(longest + 1, "x"), 63);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(strbuf_grows_and_is_always_terminated),
		TEST(strvec_is_an_argv_at_any_time),
		TEST(replace_string_takes_a_part_of_what_it_replaces),
		TEST(visible_text_cannot_play_with_a_terminal),
		TEST(an_argv_for_reading_shows_where_words_end),
		TEST(a_number_is_the_whole_text_in_its_range),
		TEST(typing_errors_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
