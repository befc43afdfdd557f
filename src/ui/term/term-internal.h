/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ui/state/paint.h"

#define NCURSES_WIDECHAR         1
#define NCURSES_NOMACROS         1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <ncurses.h>

/* The pairs of colours for painted text, behind those of the roles.  has_color: use any. */
void color_begin(bool has_color);
/* At the start of a frame: pairs that are in no frame any more can be taken again. */
void color_frame(void);
/* The look of this style on this terminal. */
attr_t color_attributes(const struct style *style);
short color_pair(const struct style *style);
