/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsonwrite.h"

#include <string.h>

void json_writer_free(struct json_writer *writer)
{
	strbuf_free(&writer->text);
	*writer = (struct json_writer){ 0 };
}

/* strbuf_add(), inline: a list of thousands of sessions calls it some hundred thousand times. */
static inline void put(struct strbuf *text, const char *from, size_t length)
{
	if (text->length + length >= text->size) {
		strbuf_add(text, from, length);
		return;
	}
	memcpy(text->data + text->length, from, length);
	text->length += length;
	text->data[text->length] = '\0';
}

/* How many bytes need no escape. */
static size_t plain_length(const char *text)
{
	static const bool is_special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x7f ... 0xff] = true
	};
	size_t length = 0;
	while (!is_special[(unsigned char)text[length]])
		length++;
	return length;
}

/* Add the escape of the character that begins here.  Returns how many bytes it has. */
static size_t add_special(struct strbuf *text, const char *from)
{
	static const char bytes[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const unsigned char *byte = (const unsigned char *)from;
	const char *found = *from ? strchr(bytes, *from) : NULL;
	const size_t reorders = text_reorders(from);
	if (found) {
		strbuf_add(text, (char[]){ '\\', letters[found - bytes] }, 2);
	} else if (*byte < ' ' || *byte == 0x7f) {
		strbuf_addf(text, "\\u%04x", *byte);
	} else if (*byte == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0) {
		strbuf_addf(text, "\\u%04x", byte[1]);
		return 2;
	} else if (reorders) {
		strbuf_addf(text, "\\u%04x", 0x2000u | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu));
		return reorders;
	} else {
		strbuf_add(text, from, 1);
	}
	return 1;
}

/* plain: as plain_length() of the value. */
static void add_quoted(struct strbuf *text, const char *value, size_t length, size_t plain)
{
	put(text, "\"", 1);
	for (const char *end = value + length;; plain = plain_length(value)) {
		put(text, value, plain);
		value += plain;
		if (value >= end)
			break;
		value += add_special(text, value);
	}
	put(text, "\"", 1);
}

static void break_line(const struct json_writer *writer, struct strbuf *text)
{
	static const char blanks[] = "\n                ";
	const size_t wanted = 1 + 2 * (size_t)writer->depth, most = strlen(blanks);
	put(text, blanks, wanted < most ? wanted : most);
	for (size_t i = most; i < wanted; i++)
		put(text, " ", 1);
}

/* A key that needs no escape, with its quotes and what follows them. */
static void add_plain_key(struct strbuf *text, const char *key, size_t length, bool is_line)
{
	strbuf_reserve(text, length + strlen("\"\": "));
	char *at = text->data + text->length;
	*at++ = '"';
	at = mempcpy(at, key, length);
	*at++ = '"';
	*at++ = ':';
	*at = ' ';
	at += !is_line;
	*at = '\0';
	text->length = (size_t)(at - text->data);
}

/* Write the comma, the line break and the key before a value. */
static struct strbuf *begin_value(struct json_writer *writer, const char *key)
{
	struct strbuf *text = &writer->text;
	if (writer->has_members)
		put(text, ",", 1);
	writer->has_members = true;
	if (writer->depth && !writer->is_line)
		break_line(writer, text);
	const size_t plain = key ? plain_length(key) : 0;
	if (key && !key[plain]) {
		add_plain_key(text, key, plain, writer->is_line);
	} else if (key) {
		add_quoted(text, key, strlen(key), plain);
		put(text, ": ", writer->is_line ? 1 : 2);
	}
	return text;
}

void json_write_begin(struct json_writer *writer, const char *key, char bracket)
{
	strbuf_add(begin_value(writer, key), &bracket, 1);
	writer->depth++;
	writer->has_members = false;
}

void json_write_end(struct json_writer *writer, char bracket)
{
	writer->depth--;
	writer->has_members = true;
	/* json-c breaks the line even when there are no members. */
	if (!writer->is_line)
		break_line(writer, &writer->text);
	strbuf_add(&writer->text, &bracket, 1);
}

void json_write_string(struct json_writer *writer, const char *key, const char *value)
{
	struct strbuf *text = begin_value(writer, key);
	if (!value) {
		strbuf_adds(text, "null");
		return;
	}
	const size_t plain = plain_length(value);
	const size_t length = plain + strlen(value + plain);
	if (plain == length || is_utf8(value, length)) {
		add_quoted(text, value, length, plain);
	} else {
		cleanup_free char *shown = visible(value);
		add_quoted(text, shown, strlen(shown), plain_length(shown));
	}
}

void json_write_int(struct json_writer *writer, const char *key, int64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	put(begin_value(writer, key), at, (size_t)(digits + sizeof(digits) - at));
}

void json_write_bool(struct json_writer *writer, const char *key, bool value)
{
	strbuf_adds(begin_value(writer, key), value ? "true" : "false");
}

static void write_object(struct json_writer *writer, const char *key, struct json_object *value)
{
	json_write_begin(writer, key, '{');
	json_object_object_foreach(value, name, member) {
		json_write_value(writer, name, member);
	}
	json_write_end(writer, '}');
}

static void write_array(struct json_writer *writer, const char *key, struct json_object *value)
{
	json_write_begin(writer, key, '[');
	for (size_t i = 0; i < json_object_array_length(value); i++)
		json_write_value(writer, NULL, json_object_array_get_idx(value, i));
	json_write_end(writer, ']');
}

void json_write_value(struct json_writer *writer, const char *key, struct json_object *value)
{
	if (json_object_is_type(value, json_type_object))
		write_object(writer, key, value);
	else if (json_object_is_type(value, json_type_array))
		write_array(writer, key, value);
	else if (json_object_is_type(value, json_type_string))
		add_quoted(begin_value(writer, key), json_object_get_string(value),
			   (size_t)json_object_get_string_len(value),
			   plain_length(json_object_get_string(value)));
	else
		strbuf_adds(begin_value(writer, key), json_object_to_json_string(value));
}
