/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fill a struct from a TOML document, by a table of the keys and where their values go.  A key that
 * the table does not know is an error: a misspelt key must not be ignored in silence.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

struct toml_document {
	const char *what; /* for messages: the path of the file; borrowed */
	struct json_object *root;
	struct toml_places *places; /* of its keys (base/toml.h) */
};

/* What the field of a key holds. */
enum toml_type {
	TOML_OTHER, /* only its store function knows */
	TOML_BOOL,
	TOML_INT,    /* int64_t */
	TOML_STRING, /* char *, NULL: not set */
	TOML_STRINGS,
	TOML_WORD,  /* an enum */
	TOML_TABLE, /* its members have names of the user's choice */
};

struct toml_key {
	const char *path; /* "default_agent", "tmux.mouse" */
	/* Check value and store it into *field.  After a failure the caller discards the target. */
	int (*store)(const struct toml_document *document, const struct toml_key *key,
		     struct json_object *value, void *field, struct error *err);
	size_t offset;            /* of field in the target struct */
	int64_t min, max;         /* for toml_store_int(); min also for toml_store_word() */
	const char *const *words; /* the values that exist; ends with NULL */
	/* For people; a table of keys that no command lists needs none of these. */
	enum toml_type type;
	const char *shown;   /* its name in what a command prints; NULL: it is not printed */
	const char *about;   /* one line; NULL: another spelling of a key */
	const char *example; /* a value as in TOML, where the default shows none */
};

/* Parse text.  ERROR_CORRUPT as toml_parse().  *ret: toml_document_free(). */
int toml_document_parse(const char *text, size_t length, const char *what,
			struct toml_document *ret, struct error *err);
void toml_document_free(struct toml_document *document);
#define cleanup_toml_document CLEANUP(toml_document_free)

/* Pass every value of the document to the store function of its key.  ERROR_CORRUPT
 * "<what>:<line>:<column>: <why>" for a key that the table does not have (why names the key and the
 * one with the most similar spelling), and for every value that a store function refuses.  On an
 * error *target has some of the values: pass a copy. */
int toml_document_store(const struct toml_document *document, const struct toml_key *keys,
			size_t count, void *target, struct error *err);

/* Add every mistake that toml_document_store() could refuse to *ret, each as its message.  The
 * target's fields get values in any case, and clear() empties it. */
struct toml_target {
	void *fields;
	void (*clear)(void *fields);
};
void toml_document_check(const struct toml_document *document, const struct toml_key *keys,
			 size_t count, const struct toml_target *target, struct strvec *ret);

/* The key that path most likely means, or NULL.  Borrowed from keys. */
const char *toml_nearest_key(const char *path, const struct toml_key *keys, size_t count);

/* Whether the document itself has this key. */
bool toml_document_has(const struct toml_document *document, const char *path);

/* ERROR_CORRUPT at the place of path, "<what>:<line>:<column>: <text>". */
int toml_error(const struct toml_document *document, const char *path, struct error *err,
	       const char *format, ...) PRINTF_LIKE(4, 5);
/* Like toml_error(), for a value of the wrong type: "<path> must be <wanted>, not <what it is>". */
int toml_type_error(const struct toml_document *document, const char *path,
		    const struct json_object *value, const char *wanted, struct error *err);
#define toml_error(...)                    \
	({                                 \
		(toml_error)(__VA_ARGS__); \
		-1;                        \
	})
#define toml_type_error(...)                    \
	({                                      \
		(toml_type_error)(__VA_ARGS__); \
		-1;                             \
	})
/* 0 when value is a string without a NUL in it. */
int toml_check_string(const struct toml_document *document, const char *path,
		      struct json_object *value, struct error *err);

/* Store functions.  A string (also as an element) must not contain a NUL. */
int toml_store_bool(const struct toml_document *document, const struct toml_key *key,
		    struct json_object *value, void *field, struct error *err); /* bool */
int toml_store_int(const struct toml_document *document, const struct toml_key *key,
		   struct json_object *value, void *field, struct error *err); /* int64_t */
int toml_store_string(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err); /* char * */
int toml_store_strings(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err); /* strvec */
/* Into an enum: the index of the string in key->words, plus key->min. */
int toml_store_word(const struct toml_document *document, const struct toml_key *key,
		    struct json_object *value, void *field, struct error *err);
