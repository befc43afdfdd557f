/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsonc.h"

#include <string.h>

#define MARK "\xef\xbb\xbf"

static void blank(char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (text[i] != '\n' && text[i] != '\r')
			text[i] = ' ';
}

/* Where the string that begins at this quote has ended. */
static size_t end_of_string(const char *text, size_t length, size_t at)
{
	for (at++; at < length && text[at] != '"' && text[at] != '\n'; at++)
		at += text[at] == '\\';
	return at + 1;
}

/* Where the comment that begins here has ended; 0: none does. */
static size_t end_of_comment(const char *text, size_t length, size_t at)
{
	if (at + 1 >= length || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
		return 0;
	const char *end = text[at + 1] == '/' ? "\n" : "*/";
	const char *found = memmem(text + at + 2, length - at - 2, end, strlen(end));
	if (!found)
		return length;
	return (size_t)(found - text) + (*end == '*' ? 2 : 0);
}

/* A comma waits until what follows it is known. */
static void drop_commas(char *text, size_t length)
{
	size_t comma = 0;
	bool waits = false;
	char before = 0;
	for (size_t i = 0; i < length; i++) {
		const char c = text[i];
		if (memchr(" \t\r\n", c, 4))
			continue;
		if (c == ',') {
			waits = before && !memchr("[{,", before, 3);
			comma = i;
		} else {
			if (waits && (c == ']' || c == '}'))
				text[comma] = ' ';
			waits = false;
		}
		before = c;
		if (c == '"')
			i = end_of_string(text, length, i) - 1;
	}
}

char *jsonc_plain(const char *text, size_t length)
{
	char *plain = xcalloc(length + 1, 1);
	if (length)
		memcpy(plain, text, length);
	if (length >= strlen(MARK) && memcmp(plain, MARK, strlen(MARK)) == 0)
		blank(plain, 0, strlen(MARK));
	for (size_t i = 0; i < length;) {
		const size_t end = end_of_comment(plain, length, i);
		if (end)
			blank(plain, i, end);
		i = end ? end : plain[i] == '"' ? end_of_string(plain, length, i) : i + 1;
	}
	drop_commas(plain, length);
	return plain;
}
