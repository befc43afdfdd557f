/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the deck shows of the selected session, or group, beside the list.
 */
#pragma once

#include "ui/state/ui.h"

/* Where the list ends: beside the preview, or above it. */
struct split {
	size_t list_width, list_height;    /* a height of 0: there is room for the preview only */
	size_t row, column, width, height; /* of the preview; a height of 0: there is none */
};

/* Limits how far the preview is scrolled to what there is. */
void draw_preview(struct ui *ui, const struct split *split);
