/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches the last replies, too, beside the list: a command reads them when the user has stopped
 * typing for a moment.  One at a time; nothing runs without a search.
 */
#pragma once

#include "ui/main/errand.h"

struct seek;
/* The errands outlive it.  *ret is the caller's; it ends before the loop. */
int seek_new(struct errands *errands, struct seek **ret, struct error *err);
void seek_free(struct seek *seek);

/* After each frame: the search may be another one. */
void seek_settle(struct seek *seek);
