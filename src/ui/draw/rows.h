/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows of the deck's list.
 */
#pragma once

#include "ui/state/ui.h"

struct rows_place {
	size_t row, height, width;
};
/* Draw as many lines of the list as fit, around its cursor.  now_us: since the Epoch. */
void draw_rows(const struct ui *ui, const struct rows_place *place, int64_t now_us);
/* What the columns of such a list are. */
void draw_column_names(const struct ui *ui, size_t row, size_t width);
/* Does a list of this width show what the sessions use? */
bool rows_have_usage(size_t width);
