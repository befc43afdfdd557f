/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/box.h"

#include <regex.h>
#include <string.h>

/* The lowest height at which an agent has been seen to scroll its box (pi, on 24 rows). */
enum { SCROLLED_LINES = 5 };

#define PLACEHOLDERS "\x01\x02\x03"

/* No box shows this byte. */
#define ANY_CHARACTER '\x04'

struct range {
	uint32_t first, last;
};

/* Spaces, and characters that take no place on a screen. */
static const struct range unseen[] = {
	{ '\t', '\r' },     { ' ', ' ' },       { 0xa0, 0xa0 },     { 0xad, 0xad },
	{ 0x1680, 0x1680 }, { 0x180e, 0x180e }, { 0x2000, 0x200d }, { 0x2028, 0x2029 },
	{ 0x202f, 0x202f }, { 0x205f, 0x2060 }, { 0x3000, 0x3000 }, { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },
};

/* Unicode's form NFC joins these characters with the one before. */
static const struct range marks[] = { { 0x300, 0x36f }, { 0x1160, 0x11ff }, { 0x3099, 0x309a } };

static bool is_in(const struct range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

/* The character's length; 0 at the end of the text. */
static size_t read_character(const char *text, uint32_t *ret)
{
	const unsigned char first = (unsigned char)*text;
	const size_t most = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	size_t length = first ? 1 : 0;
	*ret = most == 1 ? first : first & (0x7fU >> most);
	while (length && length < most && ((unsigned char)text[length] & 0xc0) == 0x80)
		*ret = *ret << 6 | ((unsigned char)text[length++] & 0x3f);
	return length;
}

/* Returns the length of the unseen characters at the beginning of the text. */
static size_t skip_unseen(const char *text)
{
	uint32_t character;
	size_t skipped = 0, length;
	while ((length = read_character(text + skipped, &character)) &&
	       is_in(unseen, ARRAY_SIZE(unseen), character))
		skipped += length;
	return skipped;
}

static bool has_mark(const char *text)
{
	uint32_t character;
	for (size_t length; (length = read_character(text, &character)); text += length)
		if (is_in(marks, ARRAY_SIZE(marks), character))
			return true;
	return false;
}

/* An agent may join a mark with the character before it (claude).  So each character that is not
 * ASCII, or has a mark, becomes one ANY_CHARACTER. */
static char *loosen(const char *text)
{
	struct strbuf buf = { 0 };
	uint32_t character;
	for (size_t length; (length = read_character(text, &character)); text += length) {
		const bool is_mark = is_in(marks, ARRAY_SIZE(marks), character);
		const char c = (char)(character < 0x80 ? character : ANY_CHARACTER);
		if (is_mark && buf.length)
			buf.data[buf.length - 1] = ANY_CHARACTER;
		else
			strbuf_add(&buf, &c, 1);
	}
	return strbuf_take(&buf);
}

/* Make both comparable, if one has marks.  May replace each, and the caller owns both. */
static void loosen_both(char **one, char **other)
{
	if (!has_mark(*one) && !has_mark(*other))
		return;
	char *const loose_one = loosen(*one), *const loose_other = loosen(*other);
	free(*one);
	free(*other);
	*one = loose_one;
	*other = loose_other;
}

static char *squeeze(const char *text, const char *between)
{
	struct strbuf buf = { 0 };
	for (text += skip_unseen(text); *text;) {
		strbuf_add(&buf, text++, 1);
		const size_t skipped = skip_unseen(text);
		if (skipped && text[skipped])
			strbuf_adds(&buf, between);
		text += skipped;
	}
	return strbuf_take(&buf);
}

bool box_same_text(const char *one, const char *other)
{
	cleanup_free char *first = squeeze(one, ""), *second = squeeze(other, "");
	loosen_both(&first, &second);
	return streq(first, second);
}

static size_t count_characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* Agents count the lines, the line ends, the characters, or these as JavaScript does: a character
 * of four bytes is two.  A guard behind the text counts, too. */
static bool is_size_of(const struct agent *agent, const char *number, const char *text)
{
	const int64_t guard = (int64_t)strlen(or_empty(agent->guard));
	int64_t size, line_ends = 0, pairs = 0;
	const int64_t characters = (int64_t)count_characters(text);
	for (const char *c = text; *c; c++) {
		line_ends += *c == '\n';
		pairs += (unsigned char)*c >= 0xf0;
	}
	if (!parse_int64(number, 0, INT64_MAX, &size))
		return false;
	const int64_t more = size - characters;
	return size == line_ends || size == line_ends + 1 || more == 0 || more == pairs ||
	       more == guard || more == pairs + guard;
}

/* The sign for a placeholder, from its pattern's first group. */
static char mark_of(const struct agent *agent, const char *line, const regmatch_t *group,
		    const char *text)
{
	if (group->rm_so < 0)
		return BOX_PLACEHOLDER_OF_SOME;
	cleanup_free char *number = xstrndup(line + group->rm_so,
					     (size_t)(group->rm_eo - group->rm_so));
	return is_size_of(agent, number, text) ? BOX_PLACEHOLDER : BOX_PLACEHOLDER_OF_OTHER;
}

/* Append the line to *ret, with a mark for each placeholder of this pattern. */
static void mark_placeholders(const struct agent *agent, const char *pattern, const char *line,
			      const char *text, struct strbuf *ret)
{
	regex_t regex;
	regmatch_t match[2];
	if (regcomp(&regex, pattern, REG_EXTENDED) == 0) {
		while (regexec(&regex, line, 2, match, 0) == 0 && match[0].rm_eo > 0) {
			const char mark = mark_of(agent, line, &match[1], text);
			strbuf_add(ret, line, (size_t)match[0].rm_so);
			strbuf_add(ret, &mark, 1);
			line += match[0].rm_eo;
		}
		regfree(&regex);
	}
	strbuf_adds(ret, line);
}

char *box_condense(const struct agent *agent, const char *input, const char *text)
{
	cleanup_free char *line = squeeze(input, " ");
	for (size_t i = 0; i < agent->pasted.count; i++) {
		struct strbuf marked = { 0 };
		mark_placeholders(agent, agent->pasted.items[i], line, text, &marked);
		free(line);
		line = strbuf_take(&marked);
	}
	return squeeze(line, "");
}

/* Is the box the whole text, with at most one placeholder for some of it? */
static bool is_whole(const char *box, const char *own)
{
	const size_t before = strcspn(box, PLACEHOLDERS), length = strlen(own);
	if (!box[before])
		return streq(box, own);
	const char *after = box + before + 1;
	if (box[before] != BOX_PLACEHOLDER_OF_SOME || after[strcspn(after, PLACEHOLDERS)])
		return box[0] == BOX_PLACEHOLDER && !*after && before == 0;
	return length > before + strlen(after) && strncmp(own, box, before) == 0 &&
	       ends_with(own, after);
}

/* Does the box show a later part of our text, and enough lines to have scrolled? */
static bool is_scrolled(const char *input, const char *box, const char *own)
{
	size_t lines = 1;
	for (const char *c = input; *c; c++)
		lines += *c == '\n';
	return lines >= SCROLLED_LINES && strstr(own, box);
}

enum box_holds box_compare(const struct agent *agent, const char *input, const char *text,
			   char **ret_before)
{
	if (!input)
		return BOX_OTHER;
	/* The text itself may look like a placeholder. */
	if (text[skip_unseen(text)] && box_same_text(input, text))
		return BOX_TEXT;
	cleanup_free char *box = box_condense(agent, input, text), *own = squeeze(text, "");
	loosen_both(&box, &own);
	const size_t length = strlen(box);
	if (length == 0)
		return BOX_EMPTY;
	if (is_whole(box, own))
		return BOX_TEXT;
	if (starts_with(own, box))
		return BOX_PART;
	if (is_scrolled(input, box, own))
		return BOX_TEXT;
	const char last = box[length - 1];
	const bool is_placeholder = last == BOX_PLACEHOLDER || last == BOX_PLACEHOLDER_OF_SOME;
	const size_t shown = is_placeholder ? 1 : strlen(own);
	if (shown >= length || (!is_placeholder && !ends_with(box, own)))
		return BOX_OTHER;
	*ret_before = xstrndup(box, length - shown);
	return BOX_BEHIND;
}

size_t box_key_count(const char *text)
{
	/* Agents delete some characters from U+0300 on together with the one before. */
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 0xcc || *c == '\t')
			return 0;
	return count_characters(text);
}
