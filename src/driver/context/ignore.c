/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/context/ignore.h"

#include <string.h>

void ignore_clear(struct ignore *ignore)
{
	strvec_clear(&ignore->patterns);
	*ignore = (struct ignore){ 0 };
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Without empty parts, ".", and "..", as path.Clean() of Go does it.  The caller frees. */
static char *clean(const char *pattern, size_t length)
{
	cleanup_free char *copy = xstrndup(pattern, length);
	cleanup_strbuf struct strbuf kept = { 0 };
	char *rest = copy;
	for (const char *part; (part = strsep(&rest, "/"));) {
		if (!*part || streq(part, "."))
			continue;
		if (streq(part, "..")) {
			const char *last = kept.length ? strrchr(kept.data, '/') : NULL;
			kept.length = last ? (size_t)(last - kept.data) : 0;
			if (kept.data)
				kept.data[kept.length] = '\0';
			continue;
		}
		strbuf_addf(&kept, "%s%s", kept.length ? "/" : "", part);
	}
	return strbuf_take(&kept);
}

static void parse_line(const char *line, struct ignore *ret)
{
	static const char blank[] = " \t\r";
	if (*line == '#')
		return;
	line += strspn(line, blank);
	const bool takes_back = *line == '!';
	if (takes_back)
		line += 1 + strspn(line + 1, blank);
	size_t length = strlen(line);
	while (length && strchr(blank, line[length - 1]))
		length--;
	cleanup_free char *pattern = clean(line, length);
	if (!*pattern)
		return;
	strvec_pushf(&ret->patterns, "%s%s", takes_back ? "!" : "", pattern);
	ret->takes_back |= takes_back;
}

void ignore_parse(const char *text, struct ignore *ret)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	if (starts_with(text, byte_order_mark))
		text += sizeof(byte_order_mark) - 1;
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	*ret = (struct ignore){ 0 };
	for (const char *line; (line = strsep(&rest, "\n"));)
		parse_line(line, ret);
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* Which beginnings of a text a beginning of a pattern matches.  A pattern is gone through once, so
 * that none takes long. */
struct match {
	const char *text;
	size_t length;
	bool *at; /* length + 1 */
};

static size_t character_length(const char *text)
{
	size_t length = 1;
	while (((unsigned char)text[length] & 0xc0) == 0x80)
		length++;
	return length;
}

/* "*", "**", or a "**" with a slash, which matches any number of whole directories. */
static void match_many(struct match *match, bool crosses, bool whole)
{
	bool any = false;
	for (size_t i = 0; i <= match->length; i++) {
		const bool follows = any && (crosses || match->text[i - 1] != '/');
		const bool here = match->at[i];
		any = here || follows;
		match->at[i] = here || (follows && (!whole || match->text[i - 1] == '/'));
	}
}

/* Is the character in the class that begins at pattern ("[a-z]")?  *ret_end: what is after it;
 * NULL: the class has no end. */
static bool in_class(const char *pattern, char c, const char **ret_end)
{
	bool is_in = false;
	const char *at = pattern + 1;
	const bool is_negated = *at == '^';
	at += is_negated;
	for (bool first = true; *at && (first || *at != ']'); first = false) {
		at += *at == '\\' && at[1];
		const char low = *at++;
		char high = low;
		if (*at == '-' && at[1] && at[1] != ']') {
			at += 1 + (at[1] == '\\' && at[2]);
			high = *at++;
		}
		is_in |= low <= c && c <= high;
	}
	*ret_end = *at ? at + 1 : NULL;
	return is_in != is_negated;
}

/* One character.  Returns the pattern behind it; NULL: it makes no sense and matches nothing. */
static const char *match_one(struct match *match, const char *pattern)
{
	const bool is_escaped = *pattern == '\\' && pattern[1];
	const char *end = pattern + 1 + is_escaped;
	bool carried[5] = { 0 }; /* a character has at most 4 bytes */
	if (*pattern == '[')
		(void)in_class(pattern, '\0', &end);
	for (size_t i = 0; end && i <= match->length; i++) {
		const bool was = match->at[i];
		match->at[i] = carried[0];
		memmove(carried, carried + 1, sizeof(carried) - sizeof(*carried));
		const char c = match->text[i];
		if (!was || i == match->length)
			continue;
		if (*pattern == '?' && c != '/')
			carried[(character_length(match->text + i) - 1) % 4] = true;
		else if (*pattern == '[')
			carried[0] |= in_class(pattern, c, &end) && c != '/';
		else if (*pattern != '?')
			carried[0] |= c == pattern[is_escaped];
	}
	return end;
}

static bool matches(const char *pattern, struct match *match)
{
	memset(match->at, 0, match->length + 1);
	match->at[0] = true;
	while (pattern && *pattern) {
		if (*pattern != '*') {
			pattern = match_one(match, pattern);
			continue;
		}
		const bool crosses = pattern[1] == '*';
		pattern += strspn(pattern, "*");
		const bool whole = crosses && *pattern == '/';
		match_many(match, crosses, whole);
		pattern += whole;
	}
	if (!pattern)
		return false;
	for (size_t i = 1; i <= match->length; i++)
		if (match->at[i] && (i == match->length || match->text[i] == '/'))
			return true;
	return false;
}

bool ignore_has(const struct ignore *ignore, const char *path)
{
	const size_t length = strlen(path);
	cleanup_free bool *at = xcalloc(length + 1, sizeof(*at));
	struct match match = { path, length, at };
	bool is_ignored = false;
	for (size_t i = 0; i < ignore->patterns.count; i++) {
		const char *pattern = ignore->patterns.items[i];
		const bool takes_back = *pattern == '!';
		if (is_ignored == takes_back && matches(pattern + takes_back, &match))
			is_ignored = !takes_back;
	}
	return is_ignored;
}
