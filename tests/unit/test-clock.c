/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deadlines, and times on disk.
 */
#include "unit/scratch.h"

#include "base/clock.h"

#include <limits.h>
#include <time.h>

static void times_survive_writing_and_reading(void **state UNUSED)
{
	char buffer[CLOCK_TEXT_SIZE];
	assert_string_equal(clock_format(INT64_C(1776157681007000), buffer),
			    "2026-04-14T09:08:01.007Z");
	assert_int_equal(clock_parse(buffer), INT64_C(1776157681007000));
	assert_int_equal(clock_parse("2026-04-14T09:08:01Z"), INT64_C(1776157681000000));
	static const char *const bad[] = { "",
					   "2026-04-14",
					   "2026-04-14T09:08:01",
					   "2026-04-14T09:08:01.5Z",
					   "2026-04-14T09:08:01.000",
					   "2026-04-14T09:08:01.000Zx",
					   "yesterday",
					   " 2026-04-14T09:08:01Z",
					   "2026-4-14T09:08:01Z",
					   "2026-04-14T09:08:01.-12Z",
					   "2026-04-14T09:08:01. 12Z",
					   "2026-02-30T09:08:01.000Z",
					   "1969-12-31T23:59:59.000Z",
					   "9999-12-31T23:59:60.000Z",
					   "12026-04-14T09:08:01Z" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(clock_parse(bad[i]), -1);
}

static void what_is_left_is_never_negative(void **state UNUSED)
{
	assert_int_equal(clock_left_ms(0), 0);
	assert_int_equal(clock_left_ms(INT64_MAX / 2), INT_MAX);
}

static void each_written_time_reads_as_the_same(void **state UNUSED)
{
	static const int64_t times[] = { 0, 1000, 951782399999000, 951782400000000,
					 INT64_C(253402300799999000) };
	char buffer[CLOCK_TEXT_SIZE];
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		assert_int_equal(clock_parse(clock_format(times[i], buffer)), times[i]);
	/* a leap day */
	assert_string_equal(clock_format(951782400000000, buffer), "2000-02-29T00:00:00.000Z");
}

static void a_date_is_that_of_the_c_library(void **state UNUSED)
{
	enum { DAYS = 400 * 366, DAY_S = 24 * 3600 };
	char buffer[CLOCK_TEXT_SIZE], known[CLOCK_TEXT_SIZE];
	for (time_t day = 0; day < DAYS; day++) {
		const time_t seconds = day * DAY_S + day % DAY_S;
		struct tm tm;
		assert_non_null(gmtime_r(&seconds, &tm));
		assert_true(strftime(known, sizeof(known), "%Y-%m-%dT%H:%M:%S.000Z", &tm) > 0);
		assert_string_equal(clock_format((int64_t)seconds * 1000000, buffer), known);
	}
	assert_string_equal(clock_format(INT64_C(253402300800000000), buffer), ".000Z");
}

static void the_deadline_clock_counts_suspend(void **state UNUSED)
{
	struct timespec boot, monotonic;
	const int64_t before = clock_ms();
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
	const int64_t after = clock_ms();
	const int64_t now = (int64_t)boot.tv_sec * 1000 + boot.tv_nsec / 1000000;
	assert_true(before <= now && now <= after);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &monotonic), 0);
	assert_true(clock_ms() >= (int64_t)monotonic.tv_sec * 1000);
}

static void the_wall_clock_is_that_of_the_system(void **state UNUSED)
{
	struct timespec before, after;
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &before), 0);
	const int64_t now = clock_wall_us();
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &after), 0);
	assert_true(now >= (int64_t)before.tv_sec * 1000000 + before.tv_nsec / 1000);
	assert_true(now <= (int64_t)after.tv_sec * 1000000 + after.tv_nsec / 1000);
}

static void what_is_left_is_what_poll_takes(void **state UNUSED)
{
	const int left = clock_left_ms(clock_ms() + 60000);
	assert_true(left > 0 && left <= 60000);
	assert_int_equal(clock_left_ms(clock_ms() - 1), 0);
	assert_int_equal(clock_left_ms(INT64_MIN), 0);
}

static void a_span_has_one_unit(void **state UNUSED)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} spans[] = {
		{ -5, "0 s" },      { 0, "0 s" },       { 59, "59 s" },
		{ 60, "1 min" },    { 3599, "59 min" }, { 3600, "1 h" },
		{ 172799, "47 h" }, { 172800, "2 d" },  { 86400 * 400, "400 d" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		char text[CLOCK_TEXT_SIZE];
		assert_string_equal(clock_span(spans[i].seconds * 1000000, text), spans[i].text);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void people_read_the_time_of_their_place(void **state)
{
	(void)state;
	char buffer[CLOCK_TEXT_SIZE];
	assert_int_equal(setenv("TZ", "XYZ-2", 1), 0);
	tzset();
	assert_string_equal(clock_local(INT64_C(1776157681007000), buffer), "2026-04-14 11:08:01");
	assert_string_equal(clock_local(-1, buffer), "");
	assert_int_equal(unsetenv("TZ"), 0);
	tzset();
}

static void a_moment_is_a_time_of_today_or_a_day(void **state UNUSED)
{
	static const struct {
		const char *then, *text;
	} moments[] = {
		{ "2026-11-27T00:00:00Z", "00:00" },  { "2026-11-27T11:07:59Z", "11:07" },
		{ "2026-11-26T23:59:59Z", "Nov 26" }, { "2026-03-01T12:00:00Z", "Mar 01" },
		{ "2025-11-27T11:07:59Z", "2025" },
	};
	const int64_t now = clock_parse("2026-11-27T12:00:00Z");
	char text[CLOCK_TEXT_SIZE];
	(void)setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++)
		assert_string_equal(clock_moment(clock_parse(moments[i].then), now, text),
				    moments[i].text);
	assert_string_equal(clock_moment(0, now, text), "");
}

static void an_age_stays_true_for_a_day(void **state UNUSED)
{
	static const struct {
		int64_t days;
		const char *text;
	} ages[] = {
		{ -1, "<1d" }, { 0, "<1d" },    { 1, "1d" },   { 69, "69d" },
		{ 70, "10w" }, { 729, "104w" }, { 730, "2y" },
	};
	const int64_t now = clock_parse("2026-11-27T12:00:00Z");
	char text[CLOCK_TEXT_SIZE];
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++)
		assert_string_equal(clock_age(now - ages[i].days * 86400 * 1000000, now, text),
				    ages[i].text);
	assert_string_equal(clock_age(0, now, text), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(times_survive_writing_and_reading),
		TEST(what_is_left_is_never_negative),
		TEST(each_written_time_reads_as_the_same),
		TEST(a_date_is_that_of_the_c_library),
		TEST(the_deadline_clock_counts_suspend),
		TEST(the_wall_clock_is_that_of_the_system),
		TEST(what_is_left_is_what_poll_takes),
		TEST(a_span_has_one_unit),
		TEST(a_moment_is_a_time_of_today_or_a_day),
		TEST(an_age_stays_true_for_a_day),
		TEST(people_read_the_time_of_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
