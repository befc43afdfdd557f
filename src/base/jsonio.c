/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsonio.h"

#include <limits.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

static void cleanup_tokener(struct json_tokener **tokener)
{
	if (*tokener)
		json_tokener_free(*tokener);
}

static int parse_error(const char *text, size_t offset, const char *what, const char *why,
		       struct error *err)
{
	size_t line = 1, column = 1;
	for (size_t i = 0; i < offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return error_set(err, ERROR_CORRUPT, "%s:%zu:%zu: %s", what, line, column, why);
}

static size_t digits_length(const char *text, size_t length)
{
	size_t i = 0;
	while (i < length && text[i] >= '0' && text[i] <= '9')
		i++;
	return i;
}

/* Length of the number that text begins with; 0: it begins with none. */
static size_t number_length(const char *text, size_t length)
{
	size_t i = length && *text == '-', digits = digits_length(text + i, length - i);
	if (!digits || (text[i] == '0' && digits > 1))
		return 0;
	i += digits;
	if (i < length && text[i] == '.') {
		digits = digits_length(text + i + 1, length - i - 1);
		i = digits ? i + 1 + digits : 0;
	}
	if (i && i < length && (text[i] == 'e' || text[i] == 'E')) {
		size_t sign = i + 1 < length && (text[i + 1] == '-' || text[i + 1] == '+');
		digits = digits_length(text + i + 1 + sign, length - i - 1 - sign);
		i = digits ? i + 1 + sign + digits : 0;
	}
	return i;
}

/* Length of the string that text begins with, up to its last quote, or up to a control character in
 * it. */
static size_t string_length(const char *text, size_t length)
{
	/* Most bytes of a large file are handled here. */
	static const bool is_special[256] = { [0 ... 0x1f] = true, ['"'] = true, ['\\'] = true };
	size_t i = 1;
	for (; i < length; i++) {
		while (i < length && !is_special[(unsigned char)text[i]])
			i++;
		if (i < length && text[i] == '\\')
			i++;
		else
			break;
	}
	return i;
}

/* Length of the literal that text begins with; 0: it begins with none. */
static size_t literal_length(const char *text, size_t length)
{
	static const char *const literals[] = { "null", "true", "false" };
	for (size_t i = 0; i < ARRAY_SIZE(literals); i++) {
		const size_t n = strlen(literals[i]);
		if (n <= length && memcmp(text, literals[i], n) == 0)
			return n;
	}
	return 0;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Offset of the first text that json-c accepts (some versions more than others) against RFC 8259:
 * control characters in strings, single quotes, comments, a comma before a bracket, NaN, Infinity
 * and NULL, numbers like 00 and 1.  Returns length if there is none. */
static size_t find_lapse(const char *text, size_t length)
{
	char before = 0; /* blanks left out */
	for (size_t i = 0; i < length; i++) {
		const char c = text[i];
		if (c == '"') {
			i += string_length(text + i, length - i);
			if (i < length && text[i] != '"')
				return i;
		} else if (c == '-' || (c >= '0' && c <= '9')) {
			size_t number = number_length(text + i, length - i);
			if (!number)
				return i;
			i += number - 1;
		} else if (is_letter(c)) {
			size_t literal = literal_length(text + i, length - i);
			if (!literal)
				return i;
			i += literal - 1;
		} else if (c == '\'' || c == '/' || (before == ',' && (c == ']' || c == '}'))) {
			return i;
		}
		if (!memchr(" \t\r\n", c, 4))
			before = c;
	}
	return length;
}

/* Offset of the first byte that belongs to no character. */
static size_t find_broken_utf8(const char *text, size_t length)
{
	size_t i = 0;
	for (size_t n = 1; i + n <= length && n <= 4;) {
		bool is_character = is_utf8(text + i, n);
		i += is_character ? n : 0;
		n = is_character ? 1 : n + 1;
	}
	return i;
}

/* json-c's own check of UTF-8 lets overlong forms and surrogates pass. */
static int check_text(const char *text, size_t length, const char *what, struct error *err)
{
	size_t lapse = find_lapse(text, length);
	if (lapse < length)
		return parse_error(text, lapse, what, "unexpected character", err);
	if (!is_utf8(text, length))
		return parse_error(text, find_broken_utf8(text, length), what, "invalid UTF-8",
				   err);
	return 0;
}

int json_parse(const char *text, size_t length, const char *what, struct json_object **ret,
	       struct error *err)
{
	if (length >= INT_MAX)
		return error_set(err, ERROR_CORRUPT, "%s is too large", what);
	CLEANUP(cleanup_tokener) struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	if (!tokener)
		abort();
	/* Not JSON_TOKENER_STRICT: json-c 0.18 would take UTF-8 for control characters.
	 * check_text() is as strict. */
	cleanup_json struct json_object *object = json_tokener_parse_ex(tokener, text, (int)length);
	enum json_tokener_error status = json_tokener_get_error(tokener);
	/* A bare number is complete only once something follows it. */
	if (status == json_tokener_continue) {
		object = json_tokener_parse_ex(tokener, "\n", 1);
		status = json_tokener_get_error(tokener);
		if (status != json_tokener_success)
			return parse_error(text, length, what, "unexpected end of the text", err);
		if (check_text(text, length, what, err) < 0)
			return -1;
		*ret = TAKE_PTR(object);
		return 0;
	}
	size_t end = json_tokener_get_parse_end(tokener);
	if (status != json_tokener_success)
		return parse_error(text, end < length ? end : length, what,
				   json_tokener_error_desc(status), err);
	size_t rest = end;
	while (rest < length && memchr(" \t\r\n", text[rest], 4))
		rest++;
	if (rest < length)
		return parse_error(text, rest, what, "unexpected text after the end", err);
	if (check_text(text, length, what, err) < 0)
		return -1;
	*ret = TAKE_PTR(object);
	return 0;
}

static struct json_object *get(const struct json_object *object, const char *key,
			       enum json_type type)
{
	struct json_object *value;
	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, type))
		return NULL;
	return value;
}

const char *json_get_string(const struct json_object *object, const char *key, const char *fallback)
{
	struct json_object *value = get(object, key, json_type_string);
	/* A string with a NUL inside would be cut, and only damage or an attack puts one there. */
	if (!value ||
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return fallback;
	return json_object_get_string(value);
}

int64_t json_get_int(const struct json_object *object, const char *key, int64_t fallback)
{
	struct json_object *value = get(object, key, json_type_int);
	return value ? json_object_get_int64(value) : fallback;
}

bool json_get_bool(const struct json_object *object, const char *key, bool fallback)
{
	struct json_object *value = get(object, key, json_type_boolean);
	return value ? json_object_get_boolean(value) : fallback;
}

struct json_object *json_get_object(const struct json_object *object, const char *key)
{
	return get(object, key, json_type_object);
}

struct json_object *json_get_array(const struct json_object *object, const char *key)
{
	return get(object, key, json_type_array);
}

void json_get_strings(const struct json_object *object, const char *key, struct strvec *vec)
{
	struct json_object *array = get(object, key, json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		if (json_object_is_type(item, json_type_string))
			strvec_push(vec, json_object_get_string(item));
	}
}

struct json_object *json_at(const struct json_object *object, const char *path)
{
	cleanup_free char *members = xstrdup(path);
	char *rest = members;
	struct json_object *value = NULL;
	for (char *name; object && (name = strsep(&rest, ".")); object = value)
		if (!json_object_is_type(object, json_type_object) ||
		    !json_object_object_get_ex(object, name, &value))
			return NULL;
	return rest ? NULL : value;
}

bool json_matches(const struct json_object *object, const char *condition)
{
	const size_t length = strcspn(condition, "=");
	const bool is_negated = length > 0 && condition[length - 1] == '!';
	cleanup_free char *path = xstrndup(condition, length - (is_negated ? 1 : 0));
	struct json_object *value = json_at(object, path);
	if (!value || !condition[length])
		return false;
	return streq(json_object_get_string(value), condition + length + 1) != is_negated;
}

void json_set(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) < 0)
		abort();
}

struct json_object *json_text(const char *text)
{
	struct json_object *value;
	if (is_utf8(text, strlen(text))) {
		value = json_object_new_string(text);
	} else {
		cleanup_free char *shown = visible(text);
		value = json_object_new_string(shown);
	}
	if (!value)
		abort();
	return value;
}

void json_set_string(struct json_object *object, const char *key, const char *value)
{
	json_set(object, key, value ? json_text(value) : NULL);
}

void json_set_int(struct json_object *object, const char *key, int64_t value)
{
	json_set(object, key, json_object_new_int64(value));
}

void json_set_bool(struct json_object *object, const char *key, bool value)
{
	json_set(object, key, json_object_new_boolean(value));
}

void json_set_strings(struct json_object *object, const char *key, const struct strvec *value)
{
	struct json_object *array = json_object_new_array_ext((int)value->count + 1);
	if (!array)
		abort();
	for (size_t i = 0; i < value->count; i++)
		if (json_object_array_add(array, json_text(value->items[i])) < 0)
			abort();
	json_set(object, key, array);
}

struct json_object *json_make_object(struct json_object *object, const char *key)
{
	struct json_object *member = json_get_object(object, key);
	if (!member) {
		member = json_object_new_object();
		if (!member)
			abort();
		json_set(object, key, member);
	}
	return member;
}

/* JSON text is Unicode, a path and an argument are bytes: what is not UTF-8 is written as an
 * object. */
#define BYTES "bytes"

struct json_object *json_raw_text(const char *text)
{
	cleanup_strbuf struct strbuf hex = { 0 };
	if (is_utf8(text, strlen(text)))
		return json_text(text);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		static const char digits[] = "0123456789abcdef";
		strbuf_add(&hex, (char[]){ digits[*s >> 4], digits[*s & 15] }, 2);
	}
	struct json_object *object = json_object_new_object();
	if (!object)
		abort();
	json_set_string(object, BYTES, strbuf_text(&hex));
	return object;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *json_raw_text_of(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string)) {
		const char *text = json_object_get_string(value);
		size_t length = (size_t)json_object_get_string_len(value);
		return strlen(text) == length ? xstrdup(text) : NULL;
	}
	const char *hex = json_get_string(value, BYTES, NULL);
	size_t length = hex ? strlen(hex) : 1;
	if (length % 2)
		return NULL;
	cleanup_free char *text = xcalloc(length / 2 + 1, 1);
	for (size_t i = 0; i < length; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
		if (high < 0 || low < 0 || high + low == 0)
			return NULL;
		text[i / 2] = (char)(high << 4 | low);
	}
	return TAKE_PTR(text);
}

const char *json_print(struct json_object *object)
{
	/* Slashes stay unescaped: paths must be readable, and grep must find them. */
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_SPACED |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
}
