/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names, and texts by others: what a rule accepts can be used where its header says, and visible
 * text has no effect on a terminal.
 */
#include "fuzz/fuzz.h"

#include "base/clock.h"
#include "driver/transcript/transcript.h"
#include "model/session/naming.h"
#include "model/settings/limits.h"
#include "model/settings/settings.h"

#define FILE_NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

/* A second opinion on is_utf8(): decode by the lead bytes, and encode again. */
static bool encodes_back(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	while (*s) {
		size_t length = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
		uint32_t code = length == 1 ? *s : *s & (0xffu >> (length + 1));
		for (size_t i = 1; i < length; i++)
			code = code << 6 | (s[i] & 0x3f);
		size_t least = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		if (least != length || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return false;
		s += length;
	}
	return true;
}

static bool has_reordering(const char *text)
{
	for (; *text; text++)
		if (text_reorders(text))
			return true;
	return false;
}

static void check_visible(const char *text)
{
	cleanup_free char *shown = visible(text), *again = visible(shown);
	cleanup_free char *line = visible_argv((char *const[]){ (char *)text, (char *)text, NULL });
	HOLDS(fuzz_is_clean(shown, false) && !has_reordering(shown));
	HOLDS(streq(shown, again));
	HOLDS(!fuzz_is_clean(text, false) || has_reordering(text) || streq(shown, text));
	HOLDS(fuzz_is_clean(line, false) && !has_reordering(line));
	HOLDS(!is_utf8(text, strlen(text)) || encodes_back(text));
}

static bool is_file_name(const char *text, size_t max)
{
	size_t length = strlen(text);
	return length >= 1 && length <= max && text[0] != '.' && text[0] != '-' &&
	       strspn(text, FILE_NAME) == length;
}

/* Whether the check accepts text; if not, it must set an error. */
static bool passes(int (*check)(const char *text, struct error *err), const char *text)
{
	struct error err = { 0 };
	int r = check(text, &err);
	HOLDS(r == 0 || (r < 0 && err.code == ERROR_USAGE));
	if (r < 0)
		fuzz_failed(&err);
	return r == 0;
}

static void check_names(const char *text)
{
	bool is_title = passes(naming_check_title, text),
	     is_group = passes(naming_check_group, text);
	if (is_title || is_group)
		HOLDS(*text && strlen(text) <= 250 && fuzz_is_clean(text, false) && text[0] != ' ');
	if (!strchr(text, '/'))
		HOLDS(is_title == is_group);
	if (passes(naming_check_profile, text))
		HOLDS(is_file_name(text, 64) && !streq(text, "logs") && naming_is_agent(text));
	HOLDS(!naming_is_agent(text) || is_file_name(text, 64));
	HOLDS(!naming_is_session_id(text) || is_file_name(text, 128));
	HOLDS(!naming_is_uuid(text) || (strlen(text) == 36 && naming_is_session_id(text)));
	if (naming_is_id(text)) {
		cleanup_free char *scope = naming_scope(text);
		HOLDS(is_file_name(text, 8) &&
		      streq(scope + strlen(scope) - strlen(".scope"), ".scope"));
	}
}

static void check_slug(const char *text)
{
	cleanup_free char *slug = transcript_slug(text);
	HOLDS(strlen(slug) <= 208 && strspn(slug, FILE_NAME) == strlen(slug) &&
	      !strpbrk(slug, "._"));
}

static void check_numbers(const char *text)
{
	char buffer[CLOCK_TEXT_SIZE];
	int64_t number = -7, time = clock_parse(text);
	/* A text that was read as a time is written as one that can be read. */
	HOLDS(time < 0 || clock_parse(clock_format(time, buffer)) == time);
	if (parse_int64(text, -5, INT64_MAX, &number))
		HOLDS(number >= -5);
	else
		HOLDS(number == -7);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		struct error err = { 0 };
		int64_t value = -7, again;
		if (limit_parse(limit, text, &value, &err) < 0) {
			HOLDS(value == -7 && err.code == ERROR_USAGE);
			fuzz_failed(&err);
			continue;
		}
		cleanup_free char *written = limit_text(limit, value);
		HOLDS(value >= 0 && limit_parse(limit, written, &again, NULL) == 0 &&
		      again == value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	check_visible(text);
	check_names(text);
	check_slug(text);
	check_numbers(text);
	return 0;
}
