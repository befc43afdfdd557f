/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Splits terminal input into keys: UTF-8 text, control characters, escape sequences (ECMA-48,
 * xterm's cursor keys) and bracketed paste, whatever the pieces it arrives in.
 */
#pragma once

#include "base/text.h"

enum key {
	KEY_NONE, /* more bytes are needed */
	KEY_TEXT, /* to insert: typed or pasted; a pasted line break is "\n" */
	KEY_ENTER,
	KEY_BACKSPACE,
	KEY_DELETE,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_ERASE_LINE,
	KEY_ERASE_WORD,
	KEY_REDRAW,
	KEY_INTERRUPT,    /* Ctrl-C */
	KEY_END_OF_INPUT, /* Ctrl-D */
	KEY_ESCAPE,       /* alone */
	KEY_OTHER,        /* something without a meaning here */
};

/* Zero-initialise it to start. */
struct keys {
	struct strbuf pending;
	size_t taken; /* bytes of pending that were processed */
	bool pasting, after_return;
};
void keys_free(struct keys *keys);

void keys_add(struct keys *keys, const char *data, size_t length);

/* Take the next key.  is_complete: the terminal has been silent for a moment, so an escape
 * character at the end is the Escape key.  For KEY_TEXT the text is appended to *text. */
enum key keys_take(struct keys *keys, bool is_complete, struct strbuf *text);

/* Whether some bytes wait for the rest of their key. */
bool keys_are_waiting(const struct keys *keys);
