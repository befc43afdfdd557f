/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shows a struct ui on the terminal.
 */
#pragma once

#include "ui/state/ui.h"

/* Draw the whole frame; the terminal gets what differs from the one before.  It draws as many lines
 * of the list as are visible, whatever their number, and notes that in ui->height.  now_us: since
 * the Epoch. */
void draw(struct ui *ui, int64_t now_us);
/* The question of MODE_DIALOG, over what is drawn already, and its keys in the last row. */
void draw_question(struct ui *ui);
