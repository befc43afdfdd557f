/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/display.h"

#include <regex.h>
#include <string.h>

struct patterns {
	regex_t *items;
	size_t count;
};

static void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		regfree(&patterns->items[i]);
	free(patterns->items);
}
#define cleanup_patterns CLEANUP(patterns_free)

/* The registry has checked that they compile; one that does not fits nothing. */
static struct patterns compile(const struct strvec *texts)
{
	struct patterns patterns = { .items = xcalloc(texts->count + 1, sizeof(regex_t)) };
	for (size_t i = 0; i < texts->count; i++)
		if (regcomp(&patterns.items[patterns.count], texts->items[i], REG_EXTENDED) == 0)
			patterns.count++;
	return patterns;
}

static bool fits(const struct patterns *patterns, const char *line)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (regexec(&patterns->items[i], line, 0, NULL, 0) == 0)
			return true;
	return false;
}

/* What is typed into the box: it stands behind what makes the line one.  NULL: the line is none. */
static const char *typed_in(const struct patterns *ready, const char *line)
{
	regmatch_t match;
	for (size_t i = 0; i < ready->count; i++)
		if (regexec(&ready->items[i], line, 1, &match, 0) == 0)
			return line + match.rm_eo;
	return NULL;
}

/* Where in own_text the line stands; NULL: it does not. */
static const char *find_own(const char *line, const char *own_text)
{
	if (!own_text)
		return NULL;
	line += strspn(line, " ");
	size_t length = strlen(line);
	while (length && line[length - 1] == ' ')
		length--;
	cleanup_free char *trimmed = xstrndup(line, length);
	return length ? strstr(own_text, trimmed) : NULL;
}

/* typed: what stands behind the box's mark, which is how our text begins. */
static bool is_own(const char *line, const char *typed, const char *own_text)
{
	return find_own(line, own_text) ||
	       (typed && own_text && find_own(typed, own_text) == own_text + strspn(own_text, " \n"));
}

enum display_state display_judge(const struct agent *agent, const char *screen,
				 const char *own_text)
{
	cleanup_patterns struct patterns ready = compile(&agent->ready);
	cleanup_patterns struct patterns waiting = compile(&agent->waiting);
	enum display_state state = DISPLAY_OTHER;
	cleanup_free char *copy = xstrdup(screen);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		const char *typed = typed_in(&ready, line);
		/* A choice may look like a box with something in it ("> 1. Yes"), and what is typed there would be taken
		 * for an answer. */
		if (fits(&waiting, line) && !is_own(line, typed, own_text))
			state = DISPLAY_DIALOG;
		else if (typed)
			state = DISPLAY_READY;
	}
	return state;
}

enum instance_activity display_activity(const struct agent *agent, const char *screen)
{
	cleanup_patterns struct patterns ready = compile(&agent->ready);
	cleanup_patterns struct patterns busy = compile(&agent->busy);
	cleanup_patterns struct patterns waiting = compile(&agent->waiting);
	bool is_waiting = false, is_busy = false, is_ready = false;
	cleanup_free char *copy = xstrdup(screen);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		is_busy |= fits(&busy, line);
		/* A choice may look like a box with something in it ("> 1. Yes"), and not the other way round. */
		if (fits(&waiting, line)) {
			is_waiting = true;
		} else if (fits(&ready, line)) {
			is_ready = true;
			is_waiting = false;
		}
	}
	if (is_waiting)
		return ACTIVITY_WAITING;
	if (is_busy)
		return ACTIVITY_BUSY;
	return is_ready ? ACTIVITY_IDLE : ACTIVITY_UNKNOWN;
}

char *display_box(const struct agent *agent, const char *screen)
{
	cleanup_patterns struct patterns ready = compile(&agent->ready);
	cleanup_free char *copy = xstrdup(screen);
	const char *box = NULL;
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (fits(&ready, line))
			box = line;
	return xstrdup_or_null(box);
}

/* Length of the character at text, 0 when it is none of UTF-8's. */
static size_t character(const char *text, size_t left)
{
	for (size_t length = 1; length <= 4 && length <= left; length++)
		if (is_utf8(text, length))
			return length;
	return 0;
}

/* Length of the control sequence that ESC begins at text (ECMA-48: CSI, the strings that ST or BEL end,
 * and the short ones). */
static size_t sequence(const char *text, size_t left)
{
	size_t length = 2;
	if (left < 2)
		return left;
	if (text[1] == '[') {
		while (length < left && text[length] >= 0x20 && text[length] < 0x40)
			length++;
		return length < left && text[length] >= 0x40 && text[length] < 0x7f ? length + 1 : length;
	}
	if (text[1] && strchr("]PX^_", text[1])) {
		while (length < left && text[length] != '\a' && text[length] != 0x1b &&
		       text[length] != '\n')
			length++;
		if (length < left && text[length] == '\a')
			return length + 1;
		return length + 1 < left && text[length] == 0x1b && text[length + 1] == '\\'
			       ? length + 2
			       : length;
	}
	while (length <= left && text[length - 1] >= 0x20 && text[length - 1] < 0x30)
		length++;
	if (length > left)
		return left;
	return text[length - 1] >= 0x30 && text[length - 1] < 0x7f ? length : 1;
}

/* C0, DEL, C1, and what makes the text another one to the eye. */
static bool is_control(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0];
	if (length == 3)
		return text_reorders(text) > 0;
	if (length == 1)
		return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
	return length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

size_t display_clean(const char *text, size_t length, struct strbuf *ret)
{
	size_t removed = 0, used;
	for (size_t i = 0; i < length; i += used) {
		used = text[i] == 0x1b ? sequence(text + i, length - i) : character(text + i, length - i);
		if (text[i] == '\r') {
			if (i + 1 >= length || text[i + 1] != '\n')
				strbuf_adds(ret, "\n");
		} else if (used == 0) {
			used = 1;
			removed++;
		} else if (text[i] == 0x1b || is_control(text + i, used)) {
			removed += used;
		} else {
			strbuf_add(ret, text + i, used);
		}
	}
	return removed;
}
