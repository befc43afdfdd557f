/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include "base/text.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t clock_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int clock_left_ms(int64_t deadline_ms)
{
	const int64_t now = clock_ms();
	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

void clock_pause_until(int64_t deadline_ms)
{
	(void)poll(NULL, 0, clock_left_ms(deadline_ms));
}

/* The digits of number, which has no more of them, and what follows them. */
static char *put_digits(char *at, int number, int digits, char next)
{
	for (int i = digits - 1; i >= 0; i--, number /= 10)
		at[i] = (char)('0' + number % 10);
	at[digits] = next;
	return at + digits + 1;
}

struct date {
	int year, month, day;
};

/* The date of a day since the Epoch, in the calendar that ISO 8601 uses for all times.  Each year
 * begins in March here, so that a leap day is its last. */
static struct date date_of(int day)
{
	enum { TO_YEAR_0 = 719468, ERA_DAYS = 146097, CENTURY_DAYS = 36524, LEAP_DAYS = 1460 };
	day += TO_YEAR_0;
	const int era = day / ERA_DAYS, in_era = day % ERA_DAYS;
	const int year = (in_era - in_era / LEAP_DAYS + in_era / CENTURY_DAYS -
			  in_era / (ERA_DAYS - 1)) /
			 365;
	const int in_year = in_era - (365 * year + year / 4 - year / 100);
	const int month = (5 * in_year + 2) / 153;
	return (struct date){ .year = era * 400 + year + (month >= 10),
			      .month = month < 10 ? month + 3 : month - 9,
			      .day = in_year - (153 * month + 2) / 5 + 1 };
}

#define DAY_S        INT64_C(86400)
#define YEAR_10000_S INT64_C(253402300800)

/* A list of thousands has as many of these: strftime(3) and snprintf(3) take five times as long,
 * and gmtime_r(3) reads the time zone. */
const char *clock_format(int64_t wall_us, char buffer[CLOCK_TEXT_SIZE])
{
	const int64_t seconds = wall_us / 1000000;
	const int ms = (int)(wall_us / 1000 % 1000), second = (int)(seconds % DAY_S);
	if (wall_us < 0 || seconds >= YEAR_10000_S) {
		snprintf(buffer, CLOCK_TEXT_SIZE, ".%03dZ", ms);
		return buffer;
	}
	const struct date date = date_of((int)(seconds / DAY_S));
	char *at = put_digits(buffer, date.year, 4, '-');
	at = put_digits(at, date.month, 2, '-');
	at = put_digits(at, date.day, 2, 'T');
	at = put_digits(at, second / 3600, 2, ':');
	at = put_digits(at, second / 60 % 60, 2, ':');
	at = put_digits(at, second % 60, 2, '.');
	at = put_digits(at, ms, 3, 'Z');
	*at = '\0';
	return buffer;
}

const char *clock_local(int64_t wall_us, char buffer[CLOCK_TEXT_SIZE])
{
	struct tm tm;
	const time_t seconds = wall_us / 1000000;
	if (wall_us < 0 || !localtime_r(&seconds, &tm) ||
	    strftime(buffer, CLOCK_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		buffer[0] = '\0';
	return buffer;
}

int64_t clock_parse(const char *text)
{
	char written[CLOCK_TEXT_SIZE];
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int ms = 0, used = 0;

	if (!rest)
		return -1;
	if (*rest == '.' && (sscanf(rest, ".%3d%n", &ms, &used) != 1 || used != 4))
		return -1;
	if (!streq(rest + used, "Z"))
		return -1;
	int64_t time = (int64_t)timegm(&tm) * 1000000 + (int64_t)ms * 1000;
	if (time < 0)
		return -1;
	/* strptime(3) accepts spaces, short numbers and signs, and timegm(3) turns 30 February into
	 * 2 March and a leap second into the year 10000.  clock_format() writes none of those. */
	clock_format(time, written);
	size_t compared = used ? strlen(text) : strlen("2026-04-14T09:08:01");
	return strncmp(written, text, compared) == 0 ? time : -1;
}

const char *clock_moment(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE])
{
	enum { YEAR_FROM_S = 300 * 24 * 3600 };
	const time_t then = wall_us / 1000000, now = now_us / 1000000;
	struct tm at, today;
	buffer[0] = '\0';
	if (wall_us <= 0 || !localtime_r(&then, &at) || !localtime_r(&now, &today))
		return buffer;
	const bool is_today = at.tm_yday == today.tm_yday && at.tm_year == today.tm_year;
	if (is_today)
		put_digits(put_digits(buffer, at.tm_hour, 2, ':'), at.tm_min, 2, '\0');
	else if (strftime(buffer, CLOCK_TEXT_SIZE, now - then < YEAR_FROM_S ? "%b %d" : "%Y",
			  &at) == 0)
		buffer[0] = '\0';
	return buffer;
}

const char *clock_until(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE])
{
	const int64_t day_us = INT64_C(24) * 3600 * 1000000;
	const time_t then = wall_us / 1000000;
	struct tm at;
	if (!localtime_r(&then, &at) ||
	    strftime(buffer, CLOCK_TEXT_SIZE, wall_us - now_us < day_us ? "%H:%M" : "%b %-d %H:%M",
		     &at) == 0)
		buffer[0] = '\0';
	return buffer;
}

const char *clock_age(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE])
{
	const long long days = (now_us - wall_us) / 1000000 / 86400;
	if (wall_us <= 0)
		buffer[0] = '\0';
	else if (days < 1)
		snprintf(buffer, CLOCK_TEXT_SIZE, "<1d");
	else if (days < 70)
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lldd", days);
	else if (days < 730)
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lldw", days / 7);
	else
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lldy", days / 365);
	return buffer;
}

const char *clock_span(int64_t us, char buffer[CLOCK_TEXT_SIZE])
{
	const long long seconds = us > 0 ? us / 1000000 : 0;
	const long long minutes = seconds / 60, hours = minutes / 60;
	if (hours >= 48)
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lld d", hours / 24);
	else if (hours)
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lld h", hours);
	else if (minutes)
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lld min", minutes);
	else
		snprintf(buffer, CLOCK_TEXT_SIZE, "%lld s", seconds);
	return buffer;
}

bool clock_parse_span(const char *text, int64_t *ret_us)
{
	static const struct {
		const char *unit;
		int64_t seconds;
	} units[] = { { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 604800 } };
	const size_t digits = strspn(text, "0123456789");
	cleanup_free char *number = xstrndup(text, digits);
	int64_t value, us;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(text + digits, units[i].unit) &&
		    parse_int64(number, 0, INT32_MAX, &value) &&
		    !__builtin_mul_overflow(value, units[i].seconds * 1000000, &us)) {
			*ret_us = us;
			return true;
		}
	return false;
}
