/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of the deck and the wall draw alike: signs, keys, and a line that is typed.
 */
#pragma once

#include "ui/state/ui.h"

/* doing_sign() and pin_sign() for this terminal. */
const char *draw_sign(enum doing doing);
const char *draw_pin(void);
/* What is being typed, with the cursor, whose surroundings are what is seen of a long line. Returns
 * the columns that it takes. */
size_t draw_typed(size_t row, size_t column, size_t width, const struct input *input);
/* A line of an agent's screen. */
void draw_painted(size_t row, size_t column, size_t width, const struct painted_line *line);
/* A key and what it does, if there is room for both.  Returns the column behind them. */
size_t draw_key(size_t row, size_t column, const char *key, const char *label);
/* Like draw_key(), with the first key of the action, or of each; only the second one may be
 * ACTION_NONE.  An action without a key is left out. */
size_t draw_action(const struct ui *ui, size_t row, size_t column, enum action action,
		   const char *label);
size_t draw_actions(const struct ui *ui, size_t row, size_t column, const enum action actions[2],
		    const char *label);
