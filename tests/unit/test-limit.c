/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Usage limits: how agents announce them, on screens that were captured by tmux (screens/) and in
 * the error of a turn, and when they end.
 */
#include "unit/test.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "model/agent/display.h"
#include "model/agent/limit.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

static const char now_text[] = "2026-11-28T13:25:00.000Z";

/* These are read by the zone of the process. */
static void in_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void check_at(const char *now, const char *text, const char *expected)
{
	char date[CLOCK_TEXT_SIZE] = "";
	const int64_t moment = limit_moment(text, clock_parse(now));
	if (moment)
		(void)clock_format(moment, date);
	if (!streq(date, expected))
		fail_msg("'%s' is '%s', not '%s'", text, date, expected);
}

static void check_moment(const char *text, const char *expected)
{
	check_at(now_text, text, expected);
}

static void words_name_the_next_such_moment(void **state UNUSED)
{
	in_zone("UTC");
	/* As claude says it. */
	check_moment("2:55pm (UTC)", "2026-11-28T14:55:00.000Z");
	check_moment("3pm (UTC)", "2026-11-28T15:00:00.000Z");
	check_moment("8:53am (UTC)", "2026-11-29T08:53:00.000Z");
	check_moment("12:46am (UTC)", "2026-11-29T00:46:00.000Z");
	check_moment("3:27pm (Europe/Berlin)", "2026-11-28T14:27:00.000Z");
	check_moment("Dec 2, 1:47am (Europe/Berlin)", "2026-12-02T00:47:00.000Z");
	check_moment("Jan 2, 1am (UTC)", "2027-01-02T01:00:00.000Z");
	/* As codex does. */
	check_moment("3:27 PM", "2026-11-28T15:27:00.000Z");
	check_moment("Dec 2nd, 2026 1:47 AM", "2026-12-02T01:47:00.000Z");
	check_moment("Dec 1st, 2026 12:00 PM", "2026-12-01T12:00:00.000Z");
	/* It is over as soon as it is read. */
	check_moment("1:20pm (UTC)", "2026-11-28T13:20:00.000Z");
	check_at("2026-12-31T23:58:00.000Z", "Jan 1, 1am (UTC)", "2027-01-01T01:00:00.000Z");
	check_at("2026-11-29T00:02:00.000Z", "11:59 PM", "2026-11-28T23:59:00.000Z");
	in_zone("America/New_York");
	check_moment("3:27 PM", "2026-11-28T20:27:00.000Z");
	check_moment("2:55pm (UTC)", "2026-11-28T14:55:00.000Z");
	assert_string_equal(getenv("TZ"), "America/New_York");
	in_zone("UTC");
}

static void other_words_name_no_moment(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"soon",
		"25:00pm (UTC)",
		"3:27",
		"3:27 PM tomorrow",
		"3pm (Europe/Nowhere)",
		"3pm (../../etc/passwd)",
		"3pm (/etc/passwd)",
		"3pm (Europe/Berlin",
		"3pm ()",
		"Feb 30 3pm (UTC)",
		"Nov 27th, 2026 1:00 PM",
		"Dec 2nd, 2031 1:47 AM",
		"999999999999999999999999999999999999999999999999999999999999999999999999999999pm",
	};
	in_zone("UTC");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_moment(texts[i], "");
}

static void check_announced(const char *name, const char *text, const char *expected)
{
	cleanup_registry struct registry registry = { 0 };
	int64_t until = -1;
	char date[CLOCK_TEXT_SIZE] = "";
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	const bool is = limit_announced(registry_find(&registry, name), text, clock_parse(now_text),
					&until);
	if (is && until)
		(void)clock_format(until, date);
	if (is != (expected != NULL) || !streq(date, or_empty(expected)))
		fail_msg("%s: '%s': %d, %s", name, text, is, date);
}

static void the_error_of_a_turn_announces_a_limit(void **state UNUSED)
{
	in_zone("UTC");
	check_announced("claude", "You've hit your limit · resets 2:55pm (UTC)",
			"2026-11-28T14:55:00.000Z");
	check_announced("claude", "You've hit your limit · resets whenever", "");
	check_announced("claude",
			"API Error: Request rejected (429) · This request would exceed your "
			"account rate limit. Please try again later.",
			NULL);
	check_announced("gemini", "You've hit your limit · resets 2:55pm (UTC)", NULL);
}

static char *screen_text(const char *name)
{
	cleanup_strbuf struct strbuf styled = { 0 };
	cleanup_display_screen struct display_screen screen = { 0 };
	cleanup_free char *path = xasprintf("%s/tests/unit/screens/%s", getenv("top_srcdir") ?: ".",
					    name);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &styled, NULL), 0);
	display_read(strbuf_text(&styled), &screen);
	return xstrdup(screen.text);
}

static void a_screen_announces_a_limit_in_its_last_words(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	const struct agent *codex = registry_find(&registry, "codex");
	cleanup_free char *screen = screen_text("codex-0.171.0-limit");
	cleanup_free char *words = display_last_words(codex, screen);
	in_zone("UTC");
	check_announced("codex", words, "2026-12-02T02:05:00.000Z");
	/* Later words hide it, and a model may quote it. */
	check_announced("codex", "• I have done it.", NULL);
	check_announced("codex",
			"• It says: ■ You’ve hit your usage limit. Visit us or try again at 3 PM.",
			NULL);
}

static void the_menu_of_a_limit_is_known(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	const struct agent *claude = registry_find(&registry, "claude");
	cleanup_free char *menu = screen_text("claude-2.1.197-limit-menu");
	cleanup_free char *other = screen_text("claude-2.1.197-model");
	assert_true(display_shows(&claude->limit_menu, menu));
	assert_false(display_shows(&claude->limit_menu, other));
	assert_int_equal(display_activity(claude, menu), ACTIVITY_WAITING);
	assert_int_equal(claude->limit_keys.count, 1);
	cleanup_free char *resumes = screen_text("claude-2.1.332-limit");
	assert_true(display_shows(&claude->limit_resumes, resumes));
	assert_false(display_shows(&claude->limit_menu, resumes));
	assert_false(display_shows(&claude->limit_resumes, menu));
}

static void a_moment_to_come_is_short(void **state UNUSED)
{
	char text[CLOCK_TEXT_SIZE];
	const int64_t now = clock_parse(now_text);
	in_zone("UTC");
	assert_string_equal(clock_until(now + INT64_C(3600000000), now, text), "14:25");
	assert_string_equal(clock_until(clock_parse("2026-12-02T01:47:00.000Z"), now, text),
			    "Dec 2 01:47");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_name_the_next_such_moment),
		cmocka_unit_test(other_words_name_no_moment),
		cmocka_unit_test(the_error_of_a_turn_announces_a_limit),
		cmocka_unit_test(a_screen_announces_a_limit_in_its_last_words),
		cmocka_unit_test(the_menu_of_a_limit_is_known),
		cmocka_unit_test(a_moment_to_come_is_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
