/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the deck, the wall and their help show what a session is doing, and which keys there are.
 */
#pragma once

#include "ui/state/list.h"
#include "ui/term/term.h"

/* doing_sign() for this terminal. */
const char *draw_sign(enum doing doing);
/* A key and what it does, if there is room for both.  Returns the column behind them. */
size_t draw_key(size_t row, size_t column, const char *key, const char *label);
