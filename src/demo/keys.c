/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/keys.h"

#include <string.h>

enum { ESCAPE = 0x1b, DELETE = 0x7f };

void keys_free(struct keys *keys)
{
	strbuf_free(&keys->pending);
	*keys = (struct keys){ 0 };
}

void keys_add(struct keys *keys, const char *data, size_t length)
{
	strbuf_add(&keys->pending, data, length);
}

bool keys_are_waiting(const struct keys *keys)
{
	return keys->taken < keys->pending.length;
}

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == DELETE;
}

/* Number of bytes at the end of text that begin an incomplete character. */
static size_t unfinished(const char *text, size_t length)
{
	for (size_t back = 1; back <= 3 && back <= length; back++) {
		unsigned char byte = (unsigned char)text[length - back];
		if (byte < 0x80)
			return 0;
		if (byte < 0xc0)
			continue;
		size_t needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
		return needed > back ? back : 0;
	}
	return 0;
}

/* Take text up to the next control character.  KEY_NONE: not even one character is complete. */
static enum key take_text(struct keys *keys, const char *start, size_t left, bool is_complete,
			  struct strbuf *text)
{
	size_t length = 0;
	while (length < left && !is_control(start[length]))
		length++;
	if (length == left && !is_complete)
		length -= unfinished(start, length);
	if (length == 0)
		return KEY_NONE;
	strbuf_add(text, start, length);
	keys->taken += length;
	return KEY_TEXT;
}

static enum key take_pasted(struct keys *keys, const char *start, size_t left, bool is_complete,
			    struct strbuf *text)
{
	static const char end[] = "\033[201~";
	const size_t end_length = sizeof(end) - 1;
	bool after_return = keys->after_return;

	if (!is_control(*start)) {
		keys->after_return = false;
		return take_text(keys, start, left, is_complete, text);
	}
	if (*start == ESCAPE && memcmp(start, end, left < end_length ? left : end_length) == 0) {
		if (left < end_length)
			return KEY_NONE;
		keys->pasting = keys->after_return = false;
		keys->taken += end_length;
		return KEY_OTHER;
	}
	keys->taken++;
	keys->after_return = *start == '\r';
	if (*start == '\n' && after_return)
		return KEY_OTHER;
	if (*start != '\r' && *start != '\n' && *start != '\t')
		return KEY_OTHER;
	strbuf_adds(text, *start == '\t' ? "\t" : "\n");
	return KEY_TEXT;
}

static enum key meaning(const char *parameters, size_t length, char final)
{
	static const struct {
		const char *parameters;
		char final;
		enum key key;
	} sequences[] = {
		{ "", 'C', KEY_RIGHT }, { "", 'D', KEY_LEFT },  { "", 'F', KEY_END },
		{ "", 'H', KEY_HOME },  { "1", '~', KEY_HOME }, { "3", '~', KEY_DELETE },
		{ "4", '~', KEY_END },  { "7", '~', KEY_HOME }, { "8", '~', KEY_END },
	};
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++)
		if (final == sequences[i].final && length == strlen(sequences[i].parameters) &&
		    memcmp(parameters, sequences[i].parameters, length) == 0)
			return sequences[i].key;
	return KEY_OTHER;
}

static enum key take_escape(struct keys *keys, const char *start, size_t left, bool is_complete)
{
	if (left == 1 || start[1] == ESCAPE) {
		if (left == 1 && !is_complete)
			return KEY_NONE;
		keys->taken++;
		return KEY_ESCAPE;
	}
	if (start[1] != '[' && start[1] != 'O') {
		/* Meta and a key: we use neither. */
		keys->taken += 2;
		return KEY_OTHER;
	}
	size_t end = 2;
	while (end < left && start[end] >= 0x20 && start[end] < 0x40)
		end++;
	if (end == left) {
		if (!is_complete)
			return KEY_NONE;
		keys->taken += left;
		return KEY_OTHER;
	}
	keys->taken += end + 1;
	if (end == 5 && memcmp(start, "\033[200~", 6) == 0) {
		keys->pasting = true;
		return KEY_OTHER;
	}
	return meaning(start + 2, end - 2, start[end]);
}

static enum key take_control(struct keys *keys, char byte, struct strbuf *text)
{
	keys->taken++;
	switch (byte) {
	case 0x01:
		return KEY_HOME;
	case 0x03:
		return KEY_INTERRUPT;
	case 0x04:
		return KEY_END_OF_INPUT;
	case 0x05:
		return KEY_END;
	case 0x08:
	case DELETE:
		return KEY_BACKSPACE;
	case '\t':
	case '\n':
		strbuf_add(text, &byte, 1);
		return KEY_TEXT;
	case 0x0c:
		return KEY_REDRAW;
	case '\r':
		return KEY_ENTER;
	case 0x15:
		return KEY_ERASE_LINE;
	case 0x17:
		return KEY_ERASE_WORD;
	default:
		return KEY_OTHER;
	}
}

enum key keys_take(struct keys *keys, bool is_complete, struct strbuf *text)
{
	if (!keys_are_waiting(keys)) {
		keys->pending.length = keys->taken = 0;
		return KEY_NONE;
	}
	const char *start = keys->pending.data + keys->taken;
	size_t left = keys->pending.length - keys->taken;
	if (keys->pasting)
		return take_pasted(keys, start, left, is_complete, text);
	if (*start == ESCAPE)
		return take_escape(keys, start, left, is_complete);
	if (is_control(*start))
		return take_control(keys, *start, text);
	return take_text(keys, start, left, is_complete, text);
}
