/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_parse() accepts RFC 8259 and nothing else: a second, simple reader of the grammar must come
 * to the same verdict.  All JSON is read with it: manifests, the index, reports, transcripts.
 */
#include "fuzz/fuzz.h"

#include "base/jsonwrite.h"

enum { MAX_DEPTH = 64 };

struct reader {
	const char *next, *end;
};

static void skip_space(struct reader *reader)
{
	while (reader->next < reader->end && memchr(" \t\r\n", *reader->next, 4))
		reader->next++;
}

static bool take(struct reader *reader, char c)
{
	bool is_next = reader->next < reader->end && *reader->next == c;
	reader->next += is_next;
	return is_next;
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t length = strlen(word);
	bool is_next = (size_t)(reader->end - reader->next) >= length &&
		       memcmp(reader->next, word, length) == 0;
	reader->next += is_next ? length : 0;
	return is_next;
}

static bool take_one_of(struct reader *reader, const char *set)
{
	bool is_next = reader->next < reader->end && *reader->next && strchr(set, *reader->next);
	reader->next += is_next;
	return is_next;
}

static bool take_digits(struct reader *reader)
{
	bool any = false;
	while (take_one_of(reader, "0123456789"))
		any = true;
	return any;
}

static bool take_number(struct reader *reader)
{
	(void)take(reader, '-');
	if (!take(reader, '0') && !take_digits(reader))
		return false;
	if (take(reader, '.') && !take_digits(reader))
		return false;
	if (!take_one_of(reader, "eE"))
		return true;
	(void)take_one_of(reader, "+-");
	return take_digits(reader);
}

static bool take_string(struct reader *reader)
{
	if (!take(reader, '"'))
		return false;
	while (reader->next < reader->end && *reader->next != '"') {
		if ((unsigned char)*reader->next < 0x20)
			return false;
		if (!take(reader, '\\')) {
			reader->next++;
			continue;
		}
		if (take(reader, 'u')) {
			for (int i = 0; i < 4; i++)
				if (!take_one_of(reader, "0123456789abcdefABCDEF"))
					return false;
		} else if (!take_one_of(reader, "\"\\/bfnrt")) {
			return false;
		}
	}
	return take(reader, '"');
}

static bool take_value(struct reader *reader, int depth);

static bool take_members(struct reader *reader, int depth, char close, bool named)
{
	skip_space(reader);
	if (take(reader, close))
		return true;
	do {
		skip_space(reader);
		if (named && !take_string(reader))
			return false;
		skip_space(reader);
		if ((named && !take(reader, ':')) || !take_value(reader, depth + 1))
			return false;
	} while (take(reader, ','));
	return take(reader, close);
}

static bool take_value(struct reader *reader, int depth)
{
	bool taken;
	/* json-c counts a value in the innermost array, too. */
	if (depth >= MAX_DEPTH)
		return false;
	skip_space(reader);
	if (take(reader, '{'))
		taken = take_members(reader, depth, '}', true);
	else if (take(reader, '['))
		taken = take_members(reader, depth, ']', false);
	else if (reader->next < reader->end && *reader->next == '"')
		taken = take_string(reader);
	else
		taken = take_word(reader, "true") || take_word(reader, "false") ||
			take_word(reader, "null") || take_number(reader);
	skip_space(reader);
	return taken;
}

static bool is_json(const char *text, size_t length)
{
	struct reader reader = { text, text + length };
	return is_utf8(text, length) && take_value(&reader, 0) && reader.next == reader.end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* No NUL after it: only the length counts. */
	cleanup_free char *text = xcalloc(size, 1);
	cleanup_json struct json_object *object = NULL, *again = NULL;
	struct json_object *untouched = (struct json_object *)(uintptr_t)1, *ret = untouched;
	struct error err = { 0 };

	if (size)
		memcpy(text, data, size);
	bool is_valid = is_json(text, size);
	if (json_parse(text, size, "input", &ret, &err) < 0) {
		HOLDS(!is_valid);
		HOLDS(ret == untouched && err.code == ERROR_CORRUPT &&
		      starts_with(err.message, "input:"));
		fuzz_failed(&err);
		return 0;
	}
	object = ret;
	HOLDS(is_valid);
	/* In json-c null is no object. */
	const char *written = object ? json_print(object) : "null";
	HOLDS(json_parse(written, strlen(written), "written", &again, NULL) == 0);
	HOLDS(json_object_equal(object, again));
	cleanup_json struct json_object *shown = NULL;
	cleanup_json_writer struct json_writer writer = { .is_line = size % 2 };
	json_write_value(&writer, NULL, object);
	HOLDS(json_parse(writer.text.data, writer.text.length, "shown", &shown, NULL) == 0);
	HOLDS(json_object_equal(object, shown));
	return 0;
}
