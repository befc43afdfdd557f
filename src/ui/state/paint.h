/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a program has printed, as lines of coloured text.  Of the escape sequences only those for
 * colours and attributes count (SGR), and those that switch to line drawing (SO, SI).  All others
 * are left out, so that nothing in it is obeyed.
 */
#pragma once

#include "base/style.h"
#include "base/text.h"

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

void painting_add_line(struct painting *painting);
/* To the last line.  Takes the text. */
void painting_add_span(struct painting *painting, const struct style *style, char *text);

/* Any bytes; without the lines at the end that show nothing. */
void paint_parse(const char *text, struct painting *ret);
void painting_free(struct painting *painting);
#define cleanup_painting CLEANUP(painting_free)
