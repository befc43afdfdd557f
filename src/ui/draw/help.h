/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The help: the signs, the keys in use and what each does, in two columns where they fit.  The page
 * is ui->help_page, which is reduced to the last one.  It has only what ui->help_find is in.
 */
#pragma once

#include "ui/state/ui.h"

/* Draw the help of the list, from this row on. */
void draw_help(struct ui *ui, size_t row, size_t height);
/* Like draw_help(), but for the wall. */
void draw_wall_help(struct ui *ui, size_t row, size_t height);
/* What the keys do there, after that: which page it is, or what the user looks for. */
void draw_help_keys(const struct ui *ui, size_t row);
