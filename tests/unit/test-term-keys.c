/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a terminal sends goes in as bytes, and keys come out.
 */
#include "unit/face-fixture.h"

#include "model/keys/key.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

static bool has_tic;
static int feed; /* what is written here is typed */

static void begin(void)
{
	int ends[2];
	if (!has_tic)
		skip();
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	(void)close(ends[0]);
	feed = ends[1];
	face_begin(&(struct face){ .columns = 80, .rows = 24 });
}

static void end(void)
{
	face_end();
	(void)close(feed);
}

/* What no user can name in the configuration, too. */
static const char *name_of(key_code key, char ret[KEY_TEXT_SIZE])
{
	static const struct {
		key_code key;
		const char *name;
	} others[] = {
		{ KEY_CODE_PASTE, "Paste" },          { KEY_CODE_PASTE_END, "PasteEnd" },
		{ KEY_CODE_CLICK, "Click" },          { KEY_CODE_WHEEL_UP, "WheelUp" },
		{ KEY_CODE_WHEEL_DOWN, "WheelDown" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].key == key)
			return others[i].name;
	const char *name = key_text(key, ret);
	return *name ? name : "?";
}

/* The names of the keys that these bytes are. */
static void check_keys(const char *bytes, const char *expected)
{
	cleanup_strbuf struct strbuf names = { 0 };
	char name[KEY_TEXT_SIZE];
	assert_int_equal(write(feed, bytes, strlen(bytes)), strlen(bytes));
	for (key_code key; (key = term_key());)
		strbuf_addf(&names, "%s%s", names.length ? " " : "", name_of(key, name));
	if (!streq(strbuf_text(&names), expected))
		fail_msg("'%s' is '%s', and not '%s'", bytes, strbuf_text(&names), expected);
}

/* As PuTTY, rxvt and xterm send them, whatever TERM says. */
static void home_and_end_of_other_terminals_are_known(void **state UNUSED)
{
	begin();
	check_keys("\033[1~\033[4~", "Home End");
	check_keys("\033[7~\033[8~", "Home End");
	check_keys("\033[H\033[F", "Home End");
	check_keys("\033OH\033OF", "Home End");
	end();
}

/* Many sequences end in D or A (Ctrl-Left and Ctrl-Up do), which are actions.  These nobody knows. */
static void a_sequence_that_is_not_known_is_one_key(void **state UNUSED)
{
	begin();
	check_keys("\033[9;9D", "?");
	/* in pieces, as a network delivers it */
	check_keys("\033[9", "?");
	check_keys(";9A", "");
	check_keys("\033", "Esc");
	check_keys("[9A", "?");
	/* the key right behind it counts */
	check_keys("\033[9;9Dt", "? t");
	/* and one that cuts it off */
	check_keys("\033[9;\003", "? Ctrl-C");
	end();
}

static void a_paste_has_a_beginning_and_an_end(void **state UNUSED)
{
	begin();
	check_keys("\033[200~qd\033[201~", "Paste q d PasteEnd");
	end();
}

static void check_click(const char *bytes, const char *expected, size_t row, size_t column)
{
	size_t is_row, is_column;
	check_keys(bytes, expected);
	term_click(&is_row, &is_column);
	assert_int_equal(is_row, row);
	assert_int_equal(is_column, column);
}

/* The first button in column 5 of row 10, counted from 1, in both forms; what comes at once counts
 * as well. */
static void the_mouse_is_read_in_both_of_its_forms(void **state UNUSED)
{
	begin();
	term_use_mouse();
	check_click("\033[M %*\033[M#%*", "Click", 9, 4);
	check_click("\033[<0;5;10M\033[<0;5;10m", "Click", 9, 4);
	check_click("\033[<65;7;15M", "WheelDown", 14, 6);
	check_click("\033[M`%/", "WheelUp", 14, 4);
	check_click("\033[<64;5;9M\033[<64;5;9M", "WheelUp WheelUp", 8, 4);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(home_and_end_of_other_terminals_are_known),
		cmocka_unit_test(a_sequence_that_is_not_known_is_one_key),
		cmocka_unit_test(a_paste_has_a_beginning_and_an_end),
		cmocka_unit_test(the_mouse_is_read_in_both_of_its_forms),
	};
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	has_tic = face_set_up();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	face_tear_down();
	return failed;
}
