/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/limit.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	SECOND_US = 1000000,
	JUST_S = 10 * 60, /* a limit of a minute has ended before it is read */
	DAY_S = 24 * 3600,
	MOST_S = 40 * DAY_S,
	WORDS_MOST = 64,
};

#define ZONES "/usr/share/zoneinfo/"

/* The words before "(ZONE)" without what strptime(3) does not read: commas, and the letters behind
 * a day. */
static void take_words(const char *text, char words[WORDS_MOST])
{
	size_t length = 0;
	for (const char *c = text; *c && *c != '(' && length < WORDS_MOST - 1; c++) {
		const bool is_ordinal = c > text && isdigit((unsigned char)c[-1]) &&
					strchr("snrt", *c) && c[1] && strchr("tdh", c[1]);
		if (is_ordinal)
			c++;
		else if (*c != ',')
			words[length++] = *c;
	}
	while (length && words[length - 1] == ' ')
		length--;
	words[length] = '\0';
}

/* False: it names no zone that this machine knows.  *ret: the zone, or NULL for this process's. */
static bool take_zone(const char *text, char **ret)
{
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	*ret = NULL;
	if (!open)
		return true;
	if (!close)
		return false;
	cleanup_free char *zone = xstrndup(open + 1, (size_t)(close - open) - 1);
	const size_t usual = strspn(zone, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_+-/");
	cleanup_free char *file = xasprintf(ZONES "%s", zone);
	if (!*zone || zone[usual] || *zone == '/')
		return false;
	if (!streq(zone, "UTC") && access(file, R_OK) < 0)
		return false;
	*ret = TAKE_PTR(zone);
	return true;
}

/* *at: the words in the calendar; what they do not say is as it was there.  Returns the form that
 * they have, for strptime(3); NULL: none. */
static const char *read_words(const char *words, struct tm *at)
{
	static const char *const forms[] = {
		"%b %d %Y %I:%M %p", "%b %d %Y %I %p", "%b %d %I:%M %p",
		"%b %d %I %p",       "%I:%M %p",       "%I %p",
	};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm read = *at;
		const char *end = strptime(words, forms[i], &read);
		if (!end || *end)
			continue;
		*at = read;
		return forms[i];
	}
	return NULL;
}

/* In the zone that is set.  -1: the words are no time. */
static int64_t next_of(const char *words, int64_t now_s)
{
	const time_t now = now_s;
	struct tm at;
	if (!localtime_r(&now, &at))
		return -1;
	at.tm_sec = at.tm_min = 0;
	const char *form = read_words(words, &at);
	if (!form)
		return -1;
	const bool has_day = strstr(form, "%d"), has_year = strstr(form, "%Y");
	time_t then = -1;
	/* From the last one on: yesterday's may just have passed, too. */
	for (int step = -1; step <= 1; step++) {
		struct tm one = at;
		one.tm_isdst = -1;
		one.tm_mday += has_day ? 0 : step;
		one.tm_year += has_day && !has_year ? step : 0;
		then = mktime(&one);
		if (then >= now - JUST_S)
			break;
	}
	return then;
}

int64_t limit_moment(const char *text, int64_t now_us)
{
	char words[WORDS_MOST];
	cleanup_free char *zone = NULL;
	if (!take_zone(text, &zone))
		return 0;
	take_words(text, words);
	/* The C library knows no other way to read a time of another zone. */
	cleanup_free char *before = xstrdup_or_null(getenv("TZ"));
	if (zone)
		(void)setenv("TZ", zone, 1);
	tzset();
	const int64_t now_s = now_us / SECOND_US, then_s = next_of(words, now_s);
	if (zone && before)
		(void)setenv("TZ", before, 1);
	else if (zone)
		(void)unsetenv("TZ");
	tzset();
	return then_s < now_s - JUST_S || then_s > now_s + MOST_S ? 0 : then_s * SECOND_US;
}

bool limit_announced(const struct agent *agent, const char *text, int64_t now_us,
		     int64_t *ret_until)
{
	bool is_announced = false;
	for (size_t i = 0; i < agent->limit.count && !is_announced; i++) {
		regex_t regex;
		regmatch_t found[2] = { 0 };
		if (regcomp(&regex, agent->limit.items[i], REG_EXTENDED) != 0)
			continue;
		is_announced = regexec(&regex, text, ARRAY_SIZE(found), found, 0) == 0;
		if (is_announced && found[1].rm_so >= 0) {
			cleanup_free char *when = xstrndup(
				text + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so));
			*ret_until = limit_moment(when, now_us);
		} else if (is_announced) {
			*ret_until = 0;
		}
		regfree(&regex);
	}
	return is_announced;
}
