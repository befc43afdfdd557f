/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Time: deadlines on the clock that counts suspend (CLOCK_BOOTTIME, clock_gettime(2)), and the
 * calendar for times on disk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds since boot, suspend included. */
int64_t clock_ms(void);

/* Microseconds since the Epoch (CLOCK_REALTIME). */
int64_t clock_wall_us(void);

/* Milliseconds from now to a deadline of clock_ms(), never negative, at most INT_MAX: poll(2). */
int clock_left_ms(int64_t deadline_ms);

/* Pause until deadline_ms of clock_ms(), or until a signal is handled. Only where no event says
 * what the caller waits for; then say so there. */
void clock_pause_until(int64_t deadline_ms);

/* RFC 3339 in UTC with milliseconds, "2026-04-14T09:08:01.000Z".  buffer holds CLOCK_TEXT_SIZE. */
enum { CLOCK_TEXT_SIZE = 32 };
const char *clock_format(int64_t wall_us, char buffer[CLOCK_TEXT_SIZE]);

/* Like clock_format(), but for people, in the time of this place: "2026-04-14 11:08:01". */
const char *clock_local(int64_t wall_us, char buffer[CLOCK_TEXT_SIZE]);

/* The reverse of clock_format(); milliseconds are optional.  Returns microseconds since the Epoch,
 * or -1 when text is not such a time, not a day of the calendar, or before 1970. */
int64_t clock_parse(const char *text);

/* A moment for people, which stays true while time passes: "11:47" of today, "Nov 27", or the year
 * if it is long ago; "" if it is not known (0). */
const char *clock_moment(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE]);

/* A moment to come, for people: "15:00", or "Dec 2 01:47" if that is more than a day away. */
const char *clock_until(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE]);

/* The age of what was made at that time, in units that stay true for a day at least: "<1d", "12d",
 * "30w", "2y"; "" if the time is not known (0). */
const char *clock_age(int64_t wall_us, int64_t now_us, char buffer[CLOCK_TEXT_SIZE]);

/* A length of time for people, in its greatest unit: "12 s", "3 min", "5 h", "4 d".  A negative one
 * (the clock was set back) is "0 s". */
const char *clock_span(int64_t us, char buffer[CLOCK_TEXT_SIZE]);

/* "90s", "30m", "12h", "7d", "2w": µs.  False: it is none of these. */
bool clock_parse_span(const char *text, int64_t *ret_us);
