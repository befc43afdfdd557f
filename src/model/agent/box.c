/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/box.h"

#include <regex.h>
#include <string.h>

/* The lowest height at which an agent has been seen to scroll its box (pi, on 24 rows). */
enum { SCROLLED_LINES = 5 };

#define PLACEHOLDERS "\x01\x02\x03"

static const char *const unseen[] = { " ",      "\t",     "\n",     "\u00a0", "\u200b",
				      "\u200c", "\u200d", "\ufe0e", "\ufe0f" };

/* Length of what does not count at the beginning of the text. */
static size_t skip_unseen(const char *text)
{
	size_t skipped = 0, before;
	do {
		before = skipped;
		for (size_t i = 0; i < ARRAY_SIZE(unseen); i++)
			if (starts_with(text + skipped, unseen[i]))
				skipped += strlen(unseen[i]);
	} while (skipped != before);
	return skipped;
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

char *box_squeeze(const char *text)
{
	return squeeze(text, "");
}

static size_t count_characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* Agents count the lines, the line ends or the characters. */
static bool is_size_of(const char *number, const char *text)
{
	int64_t size, line_ends = 0;
	for (const char *c = text; *c; c++)
		line_ends += *c == '\n';
	return parse_int64(number, 0, INT64_MAX, &size) &&
	       (size == line_ends || size == line_ends + 1 ||
		size == (int64_t)count_characters(text));
}

/* What stands for a placeholder, from its pattern's first group. */
static char mark_of(const char *line, const regmatch_t *group, const char *text)
{
	if (group->rm_so < 0)
		return BOX_PLACEHOLDER_OF_SOME;
	cleanup_free char *number = xstrndup(line + group->rm_so,
					     (size_t)(group->rm_eo - group->rm_so));
	return is_size_of(number, text) ? BOX_PLACEHOLDER : BOX_PLACEHOLDER_OF_OTHER;
}

/* Append the line to *ret, with a mark for each placeholder of this pattern. */
static void mark_placeholders(const char *pattern, const char *line, const char *text,
			      struct strbuf *ret)
{
	regex_t regex;
	regmatch_t match[2];
	if (regcomp(&regex, pattern, REG_EXTENDED) == 0) {
		while (regexec(&regex, line, 2, match, 0) == 0 && match[0].rm_eo > 0) {
			const char mark = mark_of(line, &match[1], text);
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
		mark_placeholders(agent->pasted.items[i], line, text, &marked);
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

/* Does the box show a later part of our text, in so many lines that it has scrolled? */
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
	cleanup_free char *box = box_condense(agent, input, text), *own = box_squeeze(text);
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
	/* From U+0300 on there are characters that agents delete together with the one before. */
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 0xcc || *c == '\t')
			return 0;
	return count_characters(text);
}
