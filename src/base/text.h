/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Growing strings, string vectors, and small text helpers.
 *
 * Running out of memory ends the program (abort): a supervisor that cannot allocate a few hundred
 * bytes cannot do anything useful, and its state on disk is consistent at any moment.  A caller
 * that reads from outside (files, child output) sets a bound; this module does not.
 */
#pragma once

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* malloc(3) and friends that do not return NULL.  The caller frees. */
void *xcalloc(size_t count, size_t size) MUST_USE;
void *xreallocarray(void *memory, size_t count, size_t size) MUST_USE;
char *xstrdup(const char *text) MUST_USE;
char *xstrndup(const char *text, size_t length) MUST_USE;
char *xasprintf(const char *format, ...) PRINTF_LIKE(1, 2) MUST_USE;
char *xvasprintf(const char *format, va_list args) PRINTF_LIKE(1, 0) MUST_USE;
/* NULL for NULL. */
char *xstrdup_or_null(const char *text) MUST_USE;
/* Free *slot and set it to a copy of text (or NULL). */
void replace_string(char **slot, const char *text);

/* A growing byte string, always NUL-terminated once something was added.
 * Zero-initialised is empty; strbuf_free() makes it empty again. */
struct strbuf {
	char *data;
	size_t length, size;
};
/* data: nothing of buf itself, which may move. */
void strbuf_add(struct strbuf *buf, const void *data, size_t length);
/* Make room for so many bytes more, and the NUL. */
void strbuf_reserve(struct strbuf *buf, size_t more);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addf(struct strbuf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* The string ("" when empty), which is then the caller's; the buffer is empty afterwards. */
char *strbuf_take(struct strbuf *buf) MUST_USE;
/* Remove so many bytes from its beginning, at most its length. */
void strbuf_drop(struct strbuf *buf, size_t count);
/* Borrowed, "" when empty. */
const char *strbuf_text(const struct strbuf *buf);
void strbuf_free(struct strbuf *buf);
#define cleanup_strbuf CLEANUP(strbuf_free)

/* A vector of strings, always NULL-terminated, so that `items` is an argv.
 * Zero-initialised is empty (then items is NULL: use strvec_argv()). */
struct strvec {
	char **items;
	size_t count, size;
};
void strvec_push(struct strvec *vec, const char *text);
void strvec_pushf(struct strvec *vec, const char *format, ...) PRINTF_LIKE(2, 3);
/* The vector takes ownership of text. */
void strvec_push_take(struct strvec *vec, char *text);
void strvec_push_all(struct strvec *vec, const struct strvec *other);
/* Every string up to the NULL. */
void strvec_push_array(struct strvec *vec, const char *const *items);
/* items, or an empty NULL-terminated array.  Borrowed. */
char *const *strvec_argv(const struct strvec *vec);
/* Gives an empty vector its items, an argv without arguments.  So a vector that was set to nothing
 * differs from one that was not set. */
void strvec_settle(struct strvec *vec);
bool strvec_contains(const struct strvec *vec, const char *text);
/* The caller frees. */
char *strvec_join(const struct strvec *vec, const char *separator) MUST_USE;
bool strvec_equal(const struct strvec *a, const struct strvec *b);
void strvec_clear(struct strvec *vec);
#define cleanup_strvec CLEANUP(strvec_clear)

static inline bool streq(const char *a, const char *b)
{
	return __builtin_strcmp(a, b) == 0;
}
bool starts_with(const char *text, const char *prefix);
bool ends_with(const char *text, const char *suffix);
/* Borrowed: "" for NULL. */
static inline const char *or_empty(const char *text)
{
	return text ? text : "";
}
/* NULL or "". */
static inline bool is_empty(const char *text)
{
	return !text || !*text;
}

/* Is the byte inside a character of UTF-8, and not its first one? */
static inline bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

/* True if every byte sequence is valid UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool is_utf8(const char *text, size_t length);

/* Length of the character at text if it makes a terminal show what follows in another order
 * (Unicode's embeddings, overrides and isolates: "cod.exe" could read "exe.doc"), else 0.  text
 * ends with a NUL. */
size_t text_reorders(const char *text);

/* Append text in a form that a terminal shows and never obeys: control characters (C0, DEL, C1),
 * what text_reorders() finds, and invalid UTF-8 become \ooo, \n or \t; other UTF-8 stays.  Compare
 * vis(3). */
void strbuf_add_visible(struct strbuf *buf, const char *text);
/* Like strbuf_add_visible(), as a new string of the caller's. */
char *visible(const char *text) MUST_USE;
/* Words of an argv, visible, quoted for reading where needed; for messages and logs only, never
 * for a shell.  The caller frees. */
char *visible_argv(char *const *argv) MUST_USE;

/* How many typing errors are between two short texts: a character that is missing, added or wrong,
 * or two neighbours that are swapped.  SIZE_MAX: one of them has over 64 bytes. */
size_t text_distance(const char *a, const char *b);

/* Decimal number of the whole text within [min, max].  False otherwise, *ret untouched. */
bool parse_int64(const char *text, int64_t min, int64_t max, int64_t *ret);
