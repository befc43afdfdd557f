/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys, as the deck knows them: a character (its Unicode number), or one of these.  A character
 * below the space is Ctrl with a letter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef unsigned key_code;

enum {
	KEY_CODE_FIRST = 0x110000, /* behind the last character */
	KEY_CODE_UP = KEY_CODE_FIRST,
	KEY_CODE_DOWN,
	KEY_CODE_LEFT,
	KEY_CODE_RIGHT,
	KEY_CODE_PAGE_UP,
	KEY_CODE_PAGE_DOWN,
	KEY_CODE_HOME,
	KEY_CODE_END,
	KEY_CODE_DELETE,
	KEY_CODE_BACKSPACE,
	KEY_CODE_BACKTAB,
	KEY_CODE_F1,
	KEY_CODE_LAST = KEY_CODE_F1 + 11,
	/* Around what the terminal pastes.  They have no names. */
	KEY_CODE_PASTE,
	KEY_CODE_PASTE_END,
	/* The mouse, likewise. */
	KEY_CODE_CLICK,
	KEY_CODE_WHEEL_UP,
	KEY_CODE_WHEEL_DOWN,

	KEY_CODE_NONE = 0,
	KEY_CODE_TAB = '\t',
	KEY_CODE_ENTER = '\r',
	KEY_CODE_ESCAPE = 033,
	KEY_CODE_CTRL = 0x1f, /* 'C' & KEY_CODE_CTRL is Ctrl-C */
};

enum { KEY_TEXT_SIZE = 16 };
/* "Up", "Enter", "Ctrl-L", "F1", "n".  Returns name. */
const char *key_text(key_code key, char name[KEY_TEXT_SIZE]);
/* The reverse for what is typed with Ctrl and a letter: do these bytes of a terminal have it?  As
 * one byte, or as terminals send it that tmux has asked for more keys (modifyOtherKeys, CSI u).  A
 * NUL follows the bytes. */
bool key_is_typed(const char *bytes, size_t length, key_code key);
/* The key of a name, whatever the case of a word.  False: there is no such key. */
bool key_parse(const char *name, key_code *ret);
