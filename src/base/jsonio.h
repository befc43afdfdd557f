/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON over json-c: strict parsing with the position of the error, and access that checks the type
 * first (json-c itself turns "7x" into 7 and a huge number into INT64_MAX).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <json-c/json.h>

static inline void cleanup_json_function(struct json_object **object)
{
	json_object_put(*object);
}
#define cleanup_json CLEANUP(cleanup_json_function)

/* Parse exactly one JSON value (RFC 8259, valid UTF-8, at most 64 levels deep, nothing after it).
 * what names the source in the message, "<what>:<line>:<column>: <why>", ERROR_CORRUPT.
 * *ret is the caller's: json_object_put(). */
int json_parse(const char *text, size_t length, const char *what, struct json_object **ret,
	       struct error *err);

/* Getters: the member of object under key if it exists and has that type, else the fallback.
 * Borrowed from object. */
const char *json_get_string(const struct json_object *object, const char *key,
			    const char *fallback);
int64_t json_get_int(const struct json_object *object, const char *key, int64_t fallback);
bool json_get_bool(const struct json_object *object, const char *key, bool fallback);
/* NULL unless it exists and is an object, an array. */
struct json_object *json_get_object(const struct json_object *object, const char *key);
struct json_object *json_get_array(const struct json_object *object, const char *key);
/* Fill vec from an array of strings; other elements are left out. */
void json_get_strings(const struct json_object *object, const char *key, struct strvec *vec);

/* The value at "member.member" in object.  NULL: there is none, or it is null.  Borrowed. */
struct json_object *json_at(const struct json_object *object, const char *path);
/* "member.member=value": is that what the object has there?  "member.member!=value": does it have
 * something else there?  Numbers and booleans are compared as they are written. */
bool json_matches(const struct json_object *object, const char *condition);

/* Setters.  Strings may be NULL: JSON null.  json_set() takes ownership of value. */
void json_set(struct json_object *object, const char *key, struct json_object *value);
void json_set_string(struct json_object *object, const char *key, const char *value);
void json_set_int(struct json_object *object, const char *key, int64_t value);
void json_set_bool(struct json_object *object, const char *key, bool value);
void json_set_strings(struct json_object *object, const char *key, const struct strvec *value);
/* The member object under key, made when it is missing or something else.  Borrowed. */
struct json_object *json_make_object(struct json_object *object, const char *key);

/* A JSON string of any text: bytes that are not UTF-8 are made visible first. */
struct json_object *json_text(const char *text);

/* Text that may be any bytes (a path, an argument) as JSON and back: a string, or, for what is not
 * UTF-8, {"bytes": "<lower-case hexadecimal>"}.  The caller puts and frees; NULL: value is neither.
 */
struct json_object *json_raw_text(const char *text) MUST_USE;
char *json_raw_text_of(struct json_object *value) MUST_USE;

/* The object as text, indented, without a newline at the end.  Borrowed from the
 * object until it is changed or put. */
const char *json_print(struct json_object *object);
