/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which of several attached terminals gives a notice: the first one that writes it down.
 */
#pragma once

#include "engine/deck/deck.h"

#define CLAIMS      "notices"
#define CLAIMS_LOCK "notices.lock"

/* All terminals see an occasion within this time.  The same name after it is another one. */
enum { CLAIMS_KEPT_MS = 10000 };

/* name: without a line break.  False: another process has taken it just now.  Where nothing can be
 * written down it is true: to be told twice is better than never.  It waits for a fifth of a second
 * at most. */
bool claims_take(const struct deck *deck, const char *name);
