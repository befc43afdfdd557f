/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The look of a text on a terminal: attributes and colours.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

enum {
	STYLE_BOLD = 1 << 0,
	STYLE_FAINT = 1 << 1,
	STYLE_ITALIC = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
	STYLE_REVERSE = 1 << 4,
	STYLE_HIDDEN = 1 << 5,
};
/* A colour: that of the terminal, one of 256, or with STYLE_RGB the 24 bits of red, green, blue. */
enum { STYLE_DEFAULT = -1, STYLE_RGB = 1 << 24 };

/* Zero-initialised is black on black: use STYLE_PLAIN. */
struct style {
	unsigned attributes;
	int foreground, background;
};
#define STYLE_PLAIN ((struct style){ 0, STYLE_DEFAULT, STYLE_DEFAULT })

/* The colour that a terminal with so many has, and is nearest: STYLE_DEFAULT or its number there.
 * With more than 256, from 8 on it is red, green and blue. */
int style_reduce(int color, int colors);
/* Is it among the bright half of the 16 colours? */
bool style_is_bright(int color);

/* "bold magenta", "208", "underline #ff8700 on 17", "": attributes, and names, numbers or red,
 * green and blue of colours.  ERROR_INVALID names the word that is none of these. */
int style_parse(const char *text, struct style *ret, struct error *err);

enum { STYLE_SEQUENCE_SIZE = 80 };
/* What begins it on a terminal with so many colours, "" for a plain one.  Returns buffer. */
const char *style_sequence(const struct style *style, int colors, char buffer[STYLE_SEQUENCE_SIZE]);
/* How many colours the terminal has, as TERM and COLORTERM say. */
int style_colors(void);
