/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shows a wall on the terminal.
 */
#pragma once

#include "ui/state/wall.h"

/* Settle the wall for the terminal, and draw the page of the selected tile.  The list of ui is
 * settled. */
void draw_wall(struct wall *wall, struct ui *ui);
/* The height that the tiles have on this terminal. */
size_t draw_wall_height(void);
