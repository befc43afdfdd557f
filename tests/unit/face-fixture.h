/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck without a terminal: real drawing by ncurses into a file that leads nowhere, whose cells
 * become text.  ncurses has one screen at a time: face_begin(), face_text(), face_end().
 */
#pragma once

#include "unit/test.h"

#include "ui/term/term.h"

/* The kinds of terminals.  All of them are large enough and have no mouse. */
enum face_kind {
	FACE_256, /* colours */
	FACE_8,
	FACE_16,
	FACE_TRUE,
	FACE_NO_COLOR, /* NO_COLOR is set */
	FACE_ASCII,    /* no Unicode, and 8 colours */
	FACE_KINDS
};

struct face {
	enum face_kind kind;
	enum theme theme;
	unsigned short columns, rows;
};

/* Once, before all others: describe the terminals to ncurses.  False: tic(1) is missing. */
bool face_set_up(void);
void face_tear_down(void);
void face_begin(const struct face *face);
void face_resize(unsigned short columns, unsigned short rows);
void face_end(void);
/* What is drawn.  with_styles: a second page has one letter for each cell that is not plain, and
 * then what the letters mean.  The caller frees. */
char *face_text(bool with_styles);
