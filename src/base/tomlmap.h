/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A TOML document into a struct, by a table that says which keys there are and where their values
 * go.  What the table does not know is an error: a misspelt key must not be ignored in silence.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

struct toml_document {
	const char *text;
	size_t length;
	const char *what; /* for messages: the path of the file */
	struct json_object *root;
};

struct toml_key {
	const char *path; /* "default_agent", "tmux.mouse" */
	/* Check value and store it into *field.  May keep what was stored before a failure: the
	 * target is then thrown away. */
	int (*store)(const struct toml_document *document, const struct toml_key *key,
		     struct json_object *value, void *field, struct error *err);
	size_t offset;    /* of field in the target struct */
	int64_t min, max; /* for toml_store_int() */
};

/* Parse text, which stays borrowed.  ERROR_CORRUPT as toml_parse().  *ret: toml_document_free(). */
int toml_document_parse(const char *text, size_t length, const char *what,
			struct toml_document *ret, struct error *err);
void toml_document_free(struct toml_document *document);
#define cleanup_toml_document CLEANUP(toml_document_free)

/* Give every value of the document to the store function of its key.  ERROR_CORRUPT
 * "<what>:<line>:<column>: <why>" for a key that the table does not have (why names the key and the
 * one that is spelt most like it), and whatever the store functions refuse.  On an error *target
 * holds some of the values: give it a copy. */
int toml_document_store(const struct toml_document *document, const struct toml_key *keys,
			size_t count, void *target, struct error *err);

/* Does the document say this key itself? */
bool toml_document_has(const struct toml_document *document, const char *path);

/* ERROR_CORRUPT at the place of path, "<what>:<line>:<column>: <text>". */
int toml_error(const struct toml_document *document, const char *path, struct error *err,
	       const char *format, ...) PRINTF_LIKE(4, 5);
/* The same for a value of the wrong type: "<path> must be <wanted>, not <what it is>". */
int toml_type_error(const struct toml_document *document, const char *path,
		    const struct json_object *value, const char *wanted, struct error *err);
#define toml_error(...) ({ (toml_error)(__VA_ARGS__); -1; })
#define toml_type_error(...) ({ (toml_type_error)(__VA_ARGS__); -1; })
/* 0 when value is a string without a NUL in it. */
int toml_check_string(const struct toml_document *document, const char *path,
		      struct json_object *value, struct error *err);

/* Store functions.  A string (also as an element) must not hold a NUL. */
int toml_store_bool(const struct toml_document *document, const struct toml_key *key,
		    struct json_object *value, void *field, struct error *err); /* bool */
int toml_store_int(const struct toml_document *document, const struct toml_key *key,
		   struct json_object *value, void *field, struct error *err); /* int64_t */
int toml_store_string(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err); /* char * */
int toml_store_strings(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err); /* strvec */
