/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsoncut.h"

#include <string.h>

/* DEPTH_MAX: fewer than json_parse() takes, more than anything that counts. */
enum { DEPTH_MAX = 32, LONGEST_CHARACTER = 4 };

static void take_outside(struct json_cut *cut, char c)
{
	const bool closes = c == ']' || c == '}';
	if ((c == '[' || c == '{') && cut->depth++ == DEPTH_MAX)
		strbuf_adds(&cut->text, "null");
	const bool is_kept = cut->depth <= DEPTH_MAX;
	if (is_kept)
		strbuf_add(&cut->text, &c, 1);
	if (closes && cut->depth > 0)
		cut->depth--;
	cut->in_string = c == '"';
	cut->part = is_kept ? PART_FIRST : PART_LEFT;
}

static void end_piece(struct json_cut *cut)
{
	const struct strbuf *piece = &cut->piece;
	const size_t known = cut->known;
	const bool is_first = cut->part == PART_FIRST;
	cut->known = 0;
	if (!piece->length || cut->part == PART_LEFT ||
	    (!is_first && !cut->wants(piece->data, piece->length, cut->data)))
		return;
	strbuf_add(&cut->text, piece->data + known, piece->length - known);
	cut->known = piece->length - cut->mark;
	cut->part = is_first && cut->wants ? PART_LATER : PART_LEFT;
}

/* The end of this piece is the beginning of the next one. */
static void next_piece(struct json_cut *cut)
{
	/* Bytes that are not text have no better place for a cut. */
	if (!cut->mark)
		cut->mark = cut->piece.length;
	end_piece(cut);
	cut->piece.length -= cut->mark;
	memmove(cut->piece.data, cut->piece.data + cut->mark, cut->piece.length);
	cut->mark = 0;
}

static void end_string(struct json_cut *cut)
{
	end_piece(cut);
	if (cut->depth <= DEPTH_MAX)
		strbuf_adds(&cut->text, "\"");
	cut->in_string = false;
	cut->piece.length = cut->mark = cut->known = 0;
}

/* Does c belong to the character or the escape before it? */
static bool continues(struct json_cut *cut, unsigned char c)
{
	if (cut->after_backslash) {
		cut->after_backslash = false;
		cut->digits_left = c == 'u' ? 4 : 0;
		return true;
	}
	if (cut->digits_left > 0) {
		cut->digits_left--;
		return true;
	}
	return (c & 0xc0) == 0x80 && cut->piece.length < cut->string_max + LONGEST_CHARACTER;
}

/* Returns the length of text before the first quote or backslash, at most `most`. */
static size_t plain_length(const char *text, size_t most)
{
	size_t i = 0;
	while (i < most && text[i] != '"' && text[i] != '\\')
		i++;
	return i;
}

/* Returns how much of text was taken. */
static size_t take_in_string(struct json_cut *cut, const char *text, size_t length)
{
	const size_t border = cut->string_max - JSON_CUT_OVERLAP;
	size_t taken = 1;
	if (!continues(cut, (unsigned char)*text)) {
		if (*text == '"') {
			end_string(cut);
			return taken;
		}
		if (cut->piece.length >= cut->string_max)
			next_piece(cut);
		if (!cut->mark && cut->piece.length >= border)
			cut->mark = cut->piece.length;
		const size_t room = (cut->mark ? cut->string_max : border) - cut->piece.length;
		const bool is_left = cut->part == PART_LEFT;
		cut->after_backslash = *text == '\\';
		if (!cut->after_backslash)
			taken = plain_length(text, is_left || length < room ? length : room);
	}
	if (cut->part != PART_LEFT)
		strbuf_add(&cut->piece, text, taken);
	return taken;
}

void json_cut_add(struct json_cut *cut, const char *text, size_t length)
{
	while (length > 0) {
		size_t taken = 1;
		if (cut->in_string)
			taken = take_in_string(cut, text, length);
		else
			take_outside(cut, *text);
		text += taken;
		length -= taken;
	}
}

void json_cut_clear(struct json_cut *cut)
{
	strbuf_free(&cut->text);
	strbuf_free(&cut->piece);
	*cut = (struct json_cut){ .string_max = cut->string_max,
				  .wants = cut->wants,
				  .data = cut->data };
}
