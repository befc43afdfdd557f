/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/index-file.h"

#include "base/jsonio.h"
#include "driver/store/store-internal.h"

#include <string.h>

/* What we write is JSON, so that other programs can read it.  We read only what we write, line by
 * line: to parse it as any JSON took half of the time of a listing. */
#define BEGIN "{\"format\":15,\"rows\":["
#define END   "\n]}\n"

void index_file_free(struct index_file *index)
{
	strbuf_free(&index->text);
	*index = (struct index_file){ 0 };
}

void index_file_read(int directory, struct index_file *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(directory, STORE_INDEX, STORE_INDEX_MAX, &text, NULL) != 0 ||
	    !starts_with(text.data, BEGIN) || memchr(text.data, '\0', text.length) ||
	    !ends_with(text.data, END) || !is_utf8(text.data, text.length))
		return;
	/* Each line ends with a newline, also the last one before the end. */
	text.length -= strlen(END) - 1;
	text.data[text.length] = '\0';
	ret->text = text;
	text = (struct strbuf){ 0 };
	ret->next = strchr(ret->text.data, '\n') + 1;
}

/* Take the next line, a row between quotes and a comma.  Returns false if it is something else. */
static bool take_line(struct index_file *index, struct index_line *ret)
{
	const char *begin = index->next, *end = strchr(begin, '\n');
	index->next = end + 1;
	end -= end > begin && end[-1] == ',';
	if (end - begin < 2 || *begin != '"' || end[-1] != '"')
		return false;
	*ret = (struct index_line){ begin + 1, (size_t)(end - begin) - 2 };
	return true;
}

/* Compare base with the one that a row begins with, which needs no escape. */
static int compare_base(const struct index_line *line, const char *base)
{
	const char *end = memchr(line->text, '\\', line->length);
	const size_t length = end ? (size_t)(end - line->text) : line->length, n = strlen(base);
	const int order = memcmp(line->text, base, length < n ? length : n);
	return order ? order : (length > n) - (length < n);
}

bool index_file_find(struct index_file *index, const char *base, struct index_line *ret)
{
	while (index->next && *index->next) {
		const char *begin = index->next;
		const bool is_row = take_line(index, ret);
		const int order = is_row ? compare_base(ret, base) : -1;
		if (order > 0)
			index->next = begin;
		if (order >= 0)
			return order == 0;
		index->is_stale = true;
	}
	return false;
}

bool index_file_is_stale(struct index_file *index)
{
	return index->is_stale || (index->next && *index->next);
}

/* ---- a row ------------------------------------------------------------------------------------ */

/* Decode the digits of \uXXXX.  -1: no control character that we write. */
static int control_of(const char *digits, const char *end)
{
	static const char hex[] = "0123456789abcdef";
	if (end - digits < 4 || memcmp(digits, "00", 2) != 0)
		return -1;
	const char *high = memchr(hex, digits[2], 16), *low = memchr(hex, digits[3], 16);
	const long character = high && low ? (high - hex) * 16 + (low - hex) : 0;
	return character > 0 && character < ' ' ? (int)character : -1;
}

/* The character of the escape at **at, which it passes; a tab stands for the end of a text.  -1: it
 * is none of ours. */
static int take_escape(const char **at, const char *end)
{
	static const char letters[] = "bfnr\"\\/", bytes[] = "\b\f\n\r\"\\/";
	const char *from = *at + 1;
	/* Nearly all escapes are \t, between columns. */
	if (from < end && *from == 't') {
		*at += 2;
		return '\0';
	}
	const char *found = from < end ? strchr(letters, *from) : NULL;
	if (found && *found) {
		*at += 2;
		return bytes[found - letters];
	}
	if (from == end || *from != 'u')
		return -1;
	*at += 6;
	return control_of(from + 1, end);
}

/* The length of what it makes of the text; -1: the text is not that of a JSON string. */
static ssize_t unescape(const char *from, const char *end, char *ret)
{
	static const bool is_special[256] = { [0 ... 0x1f] = true, ['"'] = true, ['\\'] = true };
	char *to = ret;
	while (from < end) {
		while (from < end && !is_special[(unsigned char)*from])
			*to++ = *from++;
		if (from == end)
			break;
		const int character = *from == '\\' ? take_escape(&from, end) : -1;
		if (character < 0)
			return -1;
		*to++ = (char)character;
	}
	*to = '\0';
	return to - ret;
}

char *index_line_texts(const struct index_line *line, const char *stamp, size_t *ret_length)
{
	const size_t n = strlen(stamp) + strlen("\\t");
	if (line->length < n || memcmp(line->text + line->length - n, "\\t", 2) != 0 ||
	    memcmp(line->text + line->length - n + 2, stamp, n - 2) != 0)
		return NULL;
	cleanup_free char *texts = xreallocarray(NULL, line->length - n + 1, 1);
	const ssize_t length = unescape(line->text, line->text + line->length - n, texts);
	if (length < 0)
		return NULL;
	*ret_length = (size_t)length;
	return TAKE_PTR(texts);
}

/* ---- writing ---------------------------------------------------------------------------------- */

void index_text_begin(struct strbuf *file)
{
	strbuf_adds(file, BEGIN);
}

void index_text_add(struct strbuf *file, const char *texts, size_t length, const char *stamp)
{
	cleanup_strbuf struct strbuf row = { 0 };
	strbuf_add(&row, texts, length);
	for (size_t i = 0; i < row.length; i++)
		if (row.data[i] == '\0')
			row.data[i] = '\t';
	strbuf_adds(&row, "\t");
	strbuf_adds(&row, stamp);
	cleanup_json struct json_object *value = json_text(row.data);
	strbuf_adds(file, file->length == strlen(BEGIN) ? "\n" : ",\n");
	strbuf_adds(file, json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
}

void index_text_write(int directory, struct strbuf *file)
{
	strbuf_adds(file, END);
	if (file->length <= STORE_INDEX_MAX)
		(void)fs_replace(directory, STORE_INDEX, file->data, file->length, FS_VOLATILE,
				 NULL);
}
