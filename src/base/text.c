/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noreturn)) void out_of_memory(void)
{
	static const char message[] =
		"agentdeck: out of memory: end something, or raise the limit (ulimit -v), then try again\n";
	ssize_t n = write(STDERR_FILENO, message, sizeof(message) - 1);
	(void)n;
	_exit(1);
}

void *xcalloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);
	if (!memory)
		out_of_memory();
	return memory;
}

void *xreallocarray(void *memory, size_t count, size_t size)
{
	void *grown = reallocarray(memory, count ? count : 1, size ? size : 1);
	if (!grown)
		out_of_memory();
	return grown;
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	if (!copy)
		out_of_memory();
	return copy;
}

char *xstrdup(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		out_of_memory();
	return copy;
}

char *xstrdup_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

char *xvasprintf(const char *format, va_list args)
{
	char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		out_of_memory();
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	return text;
}

void replace_string(char **slot, const char *text)
{
	char *copy = xstrdup_or_null(text);
	free(*slot);
	*slot = copy;
}

void strbuf_add(struct strbuf *buf, const void *data, size_t length)
{
	if (buf->length + length + 1 > buf->size) {
		buf->size = (buf->length + length + 1) * 2;
		buf->data = xreallocarray(buf->data, buf->size, 1);
	}
	if (length)
		memcpy(buf->data + buf->length, data, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void strbuf_reserve(struct strbuf *buf, size_t more)
{
	const size_t needed = buf->length + more + 1;
	if (needed <= buf->size)
		return;
	buf->size = needed > 2 * buf->size ? needed : 2 * buf->size;
	buf->data = xreallocarray(buf->data, buf->size, 1);
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *text = xvasprintf(format, args);
	va_end(args);
	strbuf_adds(buf, text);
}

char *strbuf_take(struct strbuf *buf)
{
	if (!buf->data)
		return xstrdup("");
	char *data = buf->data;
	*buf = (struct strbuf){ 0 };
	return data;
}

void strbuf_drop(struct strbuf *buf, size_t count)
{
	if (!count)
		return;
	memmove(buf->data, buf->data + count, buf->length - count);
	buf->length -= count;
	buf->data[buf->length] = '\0';
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->data ? buf->data : "";
}

void strbuf_free(struct strbuf *buf)
{
	free(buf->data);
	*buf = (struct strbuf){ 0 };
}

void strvec_settle(struct strvec *vec)
{
	if (vec->count + 2 > vec->size) {
		vec->size = vec->size ? vec->size * 2 : 8;
		vec->items = xreallocarray(vec->items, vec->size, sizeof(*vec->items));
	}
	vec->items[vec->count] = NULL;
}

void strvec_push_take(struct strvec *vec, char *text)
{
	strvec_settle(vec);
	vec->items[vec->count++] = text;
	vec->items[vec->count] = NULL;
}

void strvec_push(struct strvec *vec, const char *text)
{
	strvec_push_take(vec, xstrdup(text));
}

void strvec_pushf(struct strvec *vec, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strvec_push_take(vec, xvasprintf(format, args));
	va_end(args);
}

void strvec_push_all(struct strvec *vec, const struct strvec *other)
{
	for (size_t i = 0; i < other->count; i++)
		strvec_push(vec, other->items[i]);
}

void strvec_push_array(struct strvec *vec, const char *const *items)
{
	for (; *items; items++)
		strvec_push(vec, *items);
}

char *const *strvec_argv(const struct strvec *vec)
{
	static char *const none[] = { NULL };
	return vec->items ? vec->items : none;
}

char *strvec_join(const struct strvec *vec, const char *separator)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < vec->count; i++)
		strbuf_addf(&text, "%s%s", i ? separator : "", vec->items[i]);
	return strbuf_take(&text);
}

bool strvec_contains(const struct strvec *vec, const char *text)
{
	for (size_t i = 0; i < vec->count; i++)
		if (streq(vec->items[i], text))
			return true;
	return false;
}

bool strvec_equal(const struct strvec *a, const struct strvec *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!streq(a->items[i], b->items[i]))
			return false;
	return true;
}

void strvec_clear(struct strvec *vec)
{
	for (size_t i = 0; i < vec->count; i++)
		free(vec->items[i]);
	free(vec->items);
	*vec = (struct strvec){ 0 };
}

bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);
	return length >= tail && streq(text + length - tail, suffix);
}

/* Length of the valid UTF-8 sequence at s (1 to 4), 0 if there is none; *ret is the code point. */
static size_t utf8_sequence(const unsigned char *s, size_t left, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = s[0] < 0x80             ? 1
			: (s[0] & 0xe0) == 0xc0 ? 2
			: (s[0] & 0xf0) == 0xe0 ? 3
			: (s[0] & 0xf8) == 0xf0 ? 4
						: 0;
	if (length == 0 || length > left)
		return 0;
	uint32_t code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret = code;
	return length;
}

bool is_utf8(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;
	for (size_t i = 0; i < length;) {
		uint64_t eight;
		uint32_t code;
		/* Most text is ASCII. */
		if (length - i >= sizeof(eight)) {
			memcpy(&eight, s + i, sizeof(eight));
			if (!(eight & UINT64_C(0x8080808080808080))) {
				i += sizeof(eight);
				continue;
			}
		}
		size_t n = utf8_sequence(s + i, length - i, &code);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

size_t text_reorders(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	/* U+202A to U+202E, U+2066 to U+2069. */
	if (s[0] != 0xe2)
		return 0;
	return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
			       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		       ? 3
		       : 0;
}

void strbuf_add_visible(struct strbuf *buf, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t length = strlen(text);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t n = utf8_sequence(s + i, length - i, &code);
		if (n > 0 && code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
		    !text_reorders(text + i)) {
			strbuf_add(buf, s + i, n);
			i += n;
			continue;
		}
		if (s[i] == '\n')
			strbuf_adds(buf, "\\n");
		else if (s[i] == '\t')
			strbuf_adds(buf, "\\t");
		else if (s[i] == '\r')
			strbuf_adds(buf, "\\r");
		else
			strbuf_add(buf,
				   (char[]){ '\\', (char)('0' + (s[i] >> 6)),
					     (char)('0' + (s[i] >> 3 & 7)),
					     (char)('0' + (s[i] & 7)) },
				   4);
		i++;
	}
}

char *visible(const char *text)
{
	struct strbuf buf = { 0 };
	strbuf_add_visible(&buf, text);
	return strbuf_take(&buf);
}

char *visible_argv(char *const *argv)
{
	struct strbuf buf = { 0 };
	for (size_t i = 0; argv[i]; i++) {
		bool plain = *argv[i] && !argv[i][strcspn(argv[i], " \t\n\"'\\$`;&|<>()*?[]{}#~")];
		if (i)
			strbuf_adds(&buf, " ");
		if (!plain)
			strbuf_adds(&buf, "'");
		strbuf_add_visible(&buf, argv[i]);
		if (!plain)
			strbuf_adds(&buf, "'");
	}
	return strbuf_take(&buf);
}

bool parse_int64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
	char *end;
	if (!*text || strchr(" \t\n\v\f\r+", *text))
		return false;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

enum { DISTANCE_MAX = 64 };

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, and a swap counts once (optimal string alignment).  A cell is the
 * distance of the first i bytes of a and the first j of b; three rows of them are enough. */
size_t text_distance(const char *a, const char *b)
{
	size_t rows[3][DISTANCE_MAX + 1];
	const size_t height = strlen(a), width = strlen(b);
	if (height > DISTANCE_MAX || width > DISTANCE_MAX)
		return SIZE_MAX;
	for (size_t i = 0; i <= height; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			if (i == 0) {
				row[j] = j;
				continue;
			}
			row[j] = least_of(least_of(above[j], row[j - 1]) + 1,
					  above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least_of(row[j], before[j - 2] + 1);
		}
	}
	return rows[height % 3][width];
}
