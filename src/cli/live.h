/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal that shows one page, anew again and again, until its user has seen enough.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live;

/* Are standard input and output a terminal that this can be done on? */
bool live_is_possible(void);

/* Put the screen aside.  Whatever ends us orderly, live_close() gives it back as it was: q, Ctrl-C, signals. */
int live_open(struct live **ret, struct error *err);
void live_close(struct live *live);
static inline void live_closep(struct live **live)
{
	live_close(*live);
}
#define cleanup_live CLEANUP(live_closep)

/* Columns of the terminal as it is now. */
size_t live_width(const struct live *live);

/* The page from now on: as many of its lines as there is room for. */
int live_show(struct live *live, const char *text, struct error *err);

/* Wait for the time (of clock_ms()), the user or the terminal.  After SIGTERM and SIGHUP this does not return: the terminal is
 * restored, and the signal has its way. */
enum { LIVE_TIMEOUT, LIVE_RESIZED, LIVE_ENDED };
int live_wait(struct live *live, int64_t deadline_ms, struct error *err);
