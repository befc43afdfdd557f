/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal that shows one page, which the caller replaces again and again, until the user quits.
 */
#pragma once

#include "base/loop.h"

#include <stddef.h>

struct live;

/* Are standard input and output a terminal that can do this? */
bool live_is_possible(void);

/* Save the screen, and watch keys and signals on this loop, which is not run after live_close().
 * resized: show the page again.  SIGTERM and SIGHUP restore the terminal and end the process.
 * live_close() restores it, too.  *ret is the caller's. */
int live_open(struct loop *loop, void (*resized)(void *context), void *context, struct live **ret,
	      struct error *err);
void live_close(struct live *live);
CLEANUP_OF(live_closep, struct live, live_close);
#define cleanup_live CLEANUP(live_closep)

/* Returns the present number of columns. */
size_t live_width(const struct live *live);

/* Show this page: as many of its lines as there is room for. */
int live_show(struct live *live, const char *text, struct error *err);

/* Has the user quit, with q or Ctrl-C, or is the terminal gone? */
bool live_is_over(const struct live *live);
