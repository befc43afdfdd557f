/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a program has printed, as lines of coloured text.  Of the escape sequences only those for
 * colours and attributes count (SGR), and those that switch to line drawing (SO, SI).  All others
 * are left out, so that nothing in it is obeyed.
 */
#pragma once

#include "base/text.h"

enum {
	PAINT_BOLD = 1 << 0,
	PAINT_FAINT = 1 << 1,
	PAINT_ITALIC = 1 << 2,
	PAINT_UNDERLINE = 1 << 3,
	PAINT_REVERSE = 1 << 4,
	PAINT_HIDDEN = 1 << 5,
};
/* A colour: that of the terminal, one of 256, or with PAINT_RGB the 24 bits of red, green, blue. */
enum { PAINT_DEFAULT = -1, PAINT_RGB = 1 << 24 };

/* Zero-initialised is black on black: use PAINT_PLAIN. */
struct style {
	unsigned attributes;
	int foreground, background;
};
#define PAINT_PLAIN ((struct style){ 0, PAINT_DEFAULT, PAINT_DEFAULT })
/* The colour that a terminal with so many has, and is nearest: PAINT_DEFAULT or its number there.
 * With more than 256, from 8 on it is red, green and blue. */
int paint_reduce(int color, int colors);
/* Is it among the bright half of the 16 colours? */
bool paint_is_bright(int color);

/* A part of a line that looks the same. */
struct span {
	struct style style;
	char *text; /* visible() */
};
struct painted_line {
	struct span *spans;
	size_t count;
};
struct painting {
	struct painted_line *lines;
	size_t count;
};

/* Any bytes; without the lines at the end that show nothing. */
void paint_parse(const char *text, struct painting *ret);
void painting_free(struct painting *painting);
#define cleanup_painting CLEANUP(painting_free)
