/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/input.h"

#include <string.h>

const char *input_text(const struct input *input)
{
	return strbuf_text(&input->text);
}

void input_free(struct input *input)
{
	strbuf_free(&input->text);
	*input = (struct input){ 0 };
}

void input_set(struct input *input, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	input_free(input);
	strbuf_adds(&input->text, copy);
	input->cursor = input->text.length;
}

static size_t before(const struct input *input, size_t at)
{
	while (at > 0 && is_inside_character(input->text.data[--at]))
		;
	return at;
}

static size_t after(const struct input *input, size_t at)
{
	if (at < input->text.length)
		at++;
	while (at < input->text.length && is_inside_character(input->text.data[at]))
		at++;
	return at;
}

static size_t word_before(const struct input *input, size_t at)
{
	while (at > 0 && input->text.data[at - 1] == ' ')
		at--;
	while (at > 0 && input->text.data[at - 1] != ' ')
		at--;
	return at;
}

/* Delete from one place to the other, and leave the cursor there. */
static void cut(struct input *input, size_t from, size_t to)
{
	cleanup_free char *rest = xstrdup(input_text(input) + to);
	if (from < to) {
		input->text.data[from] = '\0';
		input->text.length = from;
		strbuf_adds(&input->text, rest);
	}
	input->cursor = from;
}

static void insert(struct input *input, key_code key)
{
	char name[KEY_TEXT_SIZE];
	const char *typed = key == ' ' ? " " : key_text(key, name);
	cleanup_free char *rest = xstrdup(input_text(input) + input->cursor);
	if (input->text.length + strlen(typed) > INPUT_MAX)
		return;
	cut(input, input->cursor, input->text.length);
	strbuf_adds(&input->text, typed);
	input->cursor = input->text.length;
	strbuf_adds(&input->text, rest);
}

bool input_type(struct input *input, key_code key)
{
	if (key < ' ' || key == 0x7F || key >= KEY_CODE_FIRST)
		return false;
	insert(input, key);
	return true;
}

bool input_key(struct input *input, const struct keymap *keymap, enum key_context context,
	       key_code key)
{
	const size_t at = input->cursor;
	switch (keymap_action(keymap, context, key)) {
	case ACTION_LINE_LEFT:
		input->cursor = before(input, at);
		return true;
	case ACTION_LINE_RIGHT:
		input->cursor = after(input, at);
		return true;
	case ACTION_LINE_START:
		input->cursor = 0;
		return true;
	case ACTION_LINE_END:
		input->cursor = input->text.length;
		return true;
	case ACTION_LINE_BACKSPACE:
		cut(input, before(input, at), at);
		return true;
	case ACTION_LINE_DELETE:
		cut(input, at, after(input, at));
		return true;
	case ACTION_LINE_CLEAR:
		cut(input, 0, at);
		return true;
	case ACTION_LINE_WORD:
		cut(input, word_before(input, at), at);
		return true;
	default:
		return input_type(input, key);
	}
}

size_t input_common(const struct strvec *words)
{
	const char *first = words->items[0];
	size_t length = strlen(first);
	for (size_t i = 1; i < words->count; i++)
		while (strncmp(first, words->items[i], length) != 0)
			length--;
	while (length && is_inside_character(first[length]))
		length--;
	return length;
}
