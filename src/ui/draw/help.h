/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The help: the keys in use and what each does.  It is drawn from line ui->help_top on, which is
 * reduced if it is behind the last page.
 */
#pragma once

#include "ui/state/ui.h"

/* Draw the help of the list, from this row on. */
void draw_help(struct ui *ui, size_t row, size_t height);
/* Like draw_help(), but for the wall. */
void draw_wall_help(struct ui *ui, size_t row, size_t height);
