/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Members of the manifest: typed reading that names what is wrong, and writing that leaves out what
 * is empty.
 */
#pragma once

#include "base/jsonio.h"

#include <stdint.h>

/* The first failure is kept and makes the rest of the reading idle, so that the readers of the
 * members are plain lists. */
struct manifest_reader {
	const char *what; /* names the source in messages */
	struct error *err;
	bool failed; /* *err is set: ERROR_CORRUPT */
};

/* One object of the manifest; object NULL: it is not there. */
struct manifest_section {
	struct manifest_reader *reader;
	const char *name; /* for messages: "run." */
	struct json_object *object;
};

/* Is the format one that we know, from 1 to newest?  ERROR_NEWER, ERROR_CORRUPT: it is not. */
int manifest_check_format(const struct json_object *object, const char *what, int newest,
			  struct error *err);

/* The member of this key is wrong: "is out of range". */
void manifest_fail(const struct manifest_section *section, const char *key, const char *why);

/* NULL: absent (null is as good), or of another type, which is a failure.  Borrowed. */
struct json_object *manifest_member(const struct manifest_section *section, const char *key,
				    enum json_type type);
/* Is it there?  Its absence is a failure. */
bool manifest_require(const struct manifest_section *section, const char *key);
/* name: borrowed by the result. */
struct manifest_section manifest_section(const struct manifest_section *section, const char *key,
					 const char *name);
/* NULL: absent, or a failure.  The caller frees. */
char *manifest_text(const struct manifest_section *section, const char *key);
/* Like manifest_text(), but for a text that must be there and not empty. */
char *manifest_need_text(const struct manifest_section *section, const char *key);
/* Append the texts of an array. */
void manifest_texts(const struct manifest_section *section, const char *key, struct strvec *ret);
/* 0: absent, or a failure.  From 0 to max. */
int64_t manifest_int(const struct manifest_section *section, const char *key, int64_t max);
bool manifest_bool(const struct manifest_section *section, const char *key);
/* Microseconds since the Epoch; 0: absent, or a failure. */
int64_t manifest_time(const struct manifest_section *section, const char *key);
/* Like manifest_time(), but for one value.  -1: not a time, or one after the year 9999, which we
 * could write and not read. */
int64_t manifest_parse_time(struct json_object *value);

/* NULL removes the key. */
void manifest_put_text(struct json_object *object, const char *key, const char *text);
/* An empty list is written as []. */
void manifest_put_texts(struct json_object *object, const char *key, const struct strvec *texts);
/* A deep copy; an empty object for NULL.  The caller puts. */
struct json_object *manifest_copy(struct json_object *source) MUST_USE;
