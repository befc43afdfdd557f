/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of the deck, and the only user of ncurses: places for text, tones for colours, and
 * keys.  It takes no signals: the program tells it of them.
 *
 * Sequence: term_begin(); term_erase(), term_put() and so on, term_show() for each frame;
 * term_end().
 */
#pragma once

#include "base/error.h"
#include "model/session/look.h"

#include <stdbool.h>
#include <stddef.h>

/* What is drawn in place of words.  All are one column wide, but for SYMBOL_OPEN and _CLOSED where
 * the terminal lacks the characters. */
enum symbol {
	SYMBOL_OPEN, /* a group whose sessions are shown */
	SYMBOL_CLOSED,
	SYMBOL_BAR,  /* between two columns */
	SYMBOL_RULE, /* begins a heading */
	SYMBOL_DOUBLE_RULE,
	SYMBOL_CUT,      /* more text follows */
	SYMBOL_WRAPPED,  /* the row continues the one above */
	SYMBOL_TOP_LEFT, /* the corners of a box */
	SYMBOL_TOP_RIGHT,
	SYMBOL_BOTTOM_LEFT,
	SYMBOL_BOTTOM_RIGHT,
	SYMBOL_COUNT
};

/* Are standard input and output a terminal that can be addressed? */
bool term_is_possible(void);
/* Does terminfo know its kind (TERM)? */
bool term_is_known(void);
/* After term_begin(): has it a second screen, beside that of the shell? */
bool term_has_other_screen(void);

/* Take the terminal.  Afterwards SIGINT, SIGTERM, SIGTSTP and SIGWINCH have their default actions.
 * ERROR_REFUSED: it is of a kind that is not known. */
int term_begin(bool has_color, struct error *err);
/* Hear of the mouse from now on.  The terminal then selects text only with Shift. */
void term_use_mouse(void);
/* Give it back as it was; fine at any time. */
void term_end(void);
/* Give it back for a while: a program of the user's, or the shell; and take it again. */
void term_leave(void);
void term_return(void);

void term_resize(void);
size_t term_rows(void);
size_t term_columns(void);

/* In UTF-8 where the locale has it, but on the Linux console, whose font is small; else, or with
 * is_plain in term_use_symbols(), in ASCII.  It is static. */
const char *term_symbol(enum symbol symbol);
void term_use_symbols(bool is_plain);
/* Are they in ASCII? */
bool term_is_plain(void);

/* How the tones look from now on. */
void term_use_skin(const struct skin *skin);

/* Begin a frame: all is blank. */
void term_erase(void);
/* Write as much of the UTF-8 text as fits into width columns, from this place on; a text that is
 * cut ends with SYMBOL_CUT.  Returns the columns that it took.  It has no control characters
 * (visible()). */
size_t term_put(size_t row, size_t column, size_t width, enum tone tone, const char *text);
/* Like term_put(), but in colours, as near as the terminal has them. */
size_t term_paint(size_t row, size_t column, size_t width, const struct style *style,
		  const char *text);
/* Underline the cells of a row. */
void term_underline(size_t row, size_t column, size_t width);
/* Show the cells of a row in reverse, in their colours, and faint ones as plain. */
void term_reverse(size_t row, size_t column, size_t width);
/* Where the cursor is shown in this frame; without this call it is hidden. */
void term_cursor(size_t row, size_t column);
/* Show what has changed since the last frame. */
void term_show(void);
/* The next frame is drawn as a whole: something else has written on the terminal. */
void term_forget(void);

/* How many columns the text takes. */
size_t term_width(const char *text);
/* How many bytes of the text fit into so many columns, and how many columns they take. */
size_t term_fitting(const char *text, size_t width, size_t *ret_columns);

/* The next key that was typed, as in model/keys/key.h; 0: no more now.  *ret_is_gone: the terminal
 * is. */
unsigned term_key(void);
/* Where the mouse was at the last KEY_CODE_CLICK or turn of the wheel. */
void term_click(size_t *ret_row, size_t *ret_column);
/* Call it when the terminal is readable, before the first term_key(): is it gone? */
bool term_is_gone(void);

/* Give the text, any bytes, to the clipboard of the terminal (OSC 52).  Not every one takes it, and
 * none answers. */
void term_copy(const char *text);
