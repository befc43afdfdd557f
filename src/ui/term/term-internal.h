/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "base/style.h"

#define NCURSES_WIDECHAR         1
#define NCURSES_NOMACROS         1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <ncurses.h>
#include <stdint.h>

/* The pairs of colours.  has_color: use any. */
void color_begin(bool has_color);
/* At the start of a frame: pairs that are in no frame any more can be taken again. */
void color_frame(void);
/* Keep the pairs that are taken now for every later frame. */
void color_keep(void);
/* The look of this style on this terminal. */
attr_t color_attributes(const struct style *style);
short color_pair(const struct style *style);

/* A report of the mouse, of which a part may come later. */
enum mouse_form {
	MOUSE_NONE, /* nothing of one has come */
	MOUSE_SGR,  /* "0;5;9M", and with "m" for a release */
	MOUSE_X10,  /* three characters, from terminals that do not know the other form */
};
struct mouse_report {
	enum mouse_form form;
	char text[16];
	size_t length;
	int64_t begun_ms;
	size_t row, column; /* of the last one that is a key */
};
/* Take its next character.  True: it is whole, and *ret_key is KEY_CODE_CLICK, a turn of the wheel,
 * or KEY_CODE_NONE for what is nothing to us, such as a release. */
bool mouse_take(struct mouse_report *report, wint_t character, unsigned *ret_key);
