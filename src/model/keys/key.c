/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/keys/key.h"

#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
	key_code key;
	const char *name;
} named[] = {
	{ KEY_CODE_UP, "Up" },
	{ KEY_CODE_DOWN, "Down" },
	{ KEY_CODE_LEFT, "Left" },
	{ KEY_CODE_RIGHT, "Right" },
	{ KEY_CODE_PAGE_UP, "PgUp" },
	{ KEY_CODE_PAGE_DOWN, "PgDn" },
	{ KEY_CODE_HOME, "Home" },
	{ KEY_CODE_END, "End" },
	{ KEY_CODE_DELETE, "Del" },
	{ KEY_CODE_BACKSPACE, "Backspace" },
	{ KEY_CODE_BACKTAB, "Back-Tab" },
	{ KEY_CODE_TAB, "Tab" },
	{ KEY_CODE_ENTER, "Enter" },
	{ KEY_CODE_ESCAPE, "Esc" },
	{ ' ', "Space" },
};

#define CTRL "Ctrl-"

/* UTF-8 of a character that is not ASCII. */
static void encode(key_code key, char name[KEY_TEXT_SIZE])
{
	char *at = name;
	if (key < 0x800) {
		*at++ = (char)(0xC0 | key >> 6);
	} else if (key < 0x10000) {
		*at++ = (char)(0xE0 | key >> 12);
		*at++ = (char)(0x80 | (key >> 6 & 0x3F));
	} else {
		*at++ = (char)(0xF0 | key >> 18);
		*at++ = (char)(0x80 | (key >> 12 & 0x3F));
		*at++ = (char)(0x80 | (key >> 6 & 0x3F));
	}
	*at++ = (char)(0x80 | (key & 0x3F));
	*at = '\0';
}

const char *key_text(key_code key, char name[KEY_TEXT_SIZE])
{
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		if (named[i].key == key) {
			(void)snprintf(name, KEY_TEXT_SIZE, "%s", named[i].name);
			return name;
		}
	}
	if (key >= KEY_CODE_F1 && key <= KEY_CODE_LAST)
		(void)snprintf(name, KEY_TEXT_SIZE, "F%u", key - KEY_CODE_F1 + 1);
	else if (key < ' ')
		(void)snprintf(name, KEY_TEXT_SIZE, CTRL "%c", (char)(key | 0x40));
	else if (key < 0x80)
		(void)snprintf(name, KEY_TEXT_SIZE, "%c", (char)key);
	else if (key < KEY_CODE_FIRST)
		encode(key, name);
	else
		*name = '\0';
	return name;
}

/* The one character of the text.  False: it is empty, or longer, or no UTF-8. */
static bool decode(const char *text, key_code *ret)
{
	const unsigned char *at = (const unsigned char *)text;
	const size_t length = strlen(text);
	if (length == 0 || !is_utf8(text, length))
		return false;
	const size_t expected = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
	if (length != expected)
		return false;
	key_code key = expected == 1 ? *at : *at & (0x7FU >> expected);
	for (size_t i = 1; i < length; i++)
		key = key << 6 | (at[i] & 0x3F);
	if (key < ' ' || key == 0x7F)
		return false;
	*ret = key;
	return true;
}

/* A terminal sends the same byte for some of these as for a key that has a name; term_key() takes
 * it for that key. */
static key_code ctrl_key(char letter)
{
	const key_code key = (unsigned char)letter & KEY_CODE_CTRL;
	return key == '\b' ? KEY_CODE_BACKSPACE : key == '\n' ? KEY_CODE_ENTER : key;
}

bool key_parse(const char *name, key_code *ret)
{
	int64_t number;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		if (strcasecmp(named[i].name, name) == 0) {
			*ret = named[i].key;
			return true;
		}
	}
	if (strncasecmp(name, CTRL, strlen(CTRL)) == 0 && name[5] && !name[6] &&
	    (isalpha((unsigned char)name[5]) || strchr("\\]^_", name[5]))) {
		*ret = ctrl_key(name[5]);
		return true;
	}
	if ((*name == 'F' || *name == 'f') && parse_int64(name + 1, 1, 12, &number)) {
		*ret = KEY_CODE_F1 + (key_code)number - 1;
		return true;
	}
	return decode(name, ret);
}

/* At the beginning of the text, with Ctrl; 0: it is none. */
static key_code read_sequence(const char *text)
{
	enum { CTRL_BIT = 4 }; /* 1 is added to the sum of the modifiers */
	unsigned letter, sum;
	int end = 0;
	if (sscanf(text, "\033[27;%u;%u~%n", &sum, &letter, &end) != 2 || !end)
		(void)sscanf(text, "\033[%u;%uu%n", &letter, &sum, &end);
	return end && (sum - 1) & CTRL_BIT && letter < CHAR_MAX && isalpha((int)letter)
		       ? letter & KEY_CODE_CTRL
		       : KEY_CODE_NONE;
}

bool key_is_typed(const char *bytes, size_t length, key_code key)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)bytes[i] == key || read_sequence(bytes + i) == key)
			return true;
	return false;
}
