/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields of a struct that is an object in JSON: one table names each field once, and reading,
 * writing, copying and freeing go by the table.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/session/manifest-internal.h"

#include <stddef.h>

enum field_type {
	FIELD_TEXT,     /* char *; NULL is the absence of the key */
	FIELD_TEXTS,    /* struct strvec */
	FIELD_FLAG,     /* bool */
	FIELD_INT,      /* int */
	FIELD_UNSIGNED, /* unsigned int, or with words an enum */
	FIELD_NUMBER,   /* int64_t */
	FIELD_COUNT,    /* uint64_t */
	FIELD_TIME,     /* int64_t: microseconds since the Epoch; 0: never */
	FIELD_STRUCT,   /* a struct inside this one */
	FIELD_POINTER,  /* to a struct of its own; NULL is the absence of the key */
	FIELD_LIST,     /* an array of structs of its own */
	FIELD_CUSTOM,   /* its own functions do everything */
};

struct field {
	const char *key; /* NULL: it is not in JSON */
	size_t offset;   /* in its struct */
	enum field_type type;
	bool needed;              /* a failure when absent or empty */
	bool is_path;             /* of a text: absolute */
	bool always;              /* written also when it is empty, 0 or false */
	bool identifies;          /* see fields_put() */
	bool decides;             /* when all that decide have no value, the struct is absent */
	int64_t max;              /* of a number; 0: that of its type */
	const char *const *words; /* of an enum, with NULL at the end */
	/* The value that a word of another version has.  Written, it leaves the key as it is.  0:
	 * such a word is a failure. */
	unsigned other;
	unsigned absent;             /* the value of an enum whose key is absent */
	const struct fields *fields; /* of FIELD_STRUCT, FIELD_POINTER and FIELD_LIST */
	size_t count;                /* of FIELD_LIST: offset of the number of items, a size_t */
	/* NULL: what the type does.  Each gets the whole struct. */
	void (*read)(const struct manifest_section *section, const char *key, void *ret);
	void (*put)(struct json_object *object, const char *key, const void *source);
};

struct fields {
	const struct field *fields;
	size_t count;
	size_t size; /* of the struct */
	/* Offset of a struct json_object *: the object that the struct was read from, whose other
	 * keys are written again.  0: there is none. */
	size_t unknown;
	/* What no single field can say, after they are read; NULL: nothing. */
	void (*check)(const struct manifest_section *section, void *ret);
};

#define FIELDS(type, table, ...)                                                                 \
	{                                                                                        \
		.fields = (table), .count = ARRAY_SIZE(table), .size = sizeof(type), __VA_ARGS__ \
	}

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes none */
/* A member of another type does not compile. */
#define FIELD(of, member, name, ...)                                               \
	{                                                                          \
		.key = (name), .offset = offsetof(of, member),                   \
		.type = _Generic(((of *)0)->member,                              \
			char *: FIELD_TEXT,                                      \
			struct strvec: FIELD_TEXTS,                              \
			bool: FIELD_FLAG,                                        \
			int: FIELD_INT,                                          \
			unsigned: FIELD_UNSIGNED,                                \
			int64_t: FIELD_NUMBER,                                   \
			uint64_t: FIELD_COUNT),                                  \
		__VA_ARGS__ \
	}
#define FIELD_OF_TIME(of, member, name, ...)                   \
	{                                                      \
		.key = (name), .offset = offsetof(of, member), \
		.type = _Generic(((of *)0)->member, int64_t    \
				 : FIELD_TIME),                \
		__VA_ARGS__                                    \
	}
#define FIELD_OF_STRUCT(of, member, name, table)                                     \
	{                                                                            \
		.key = (name), .offset = offsetof(of, member), .type = FIELD_STRUCT, \
		.fields = (table)                                                    \
	}
#define FIELD_OF_POINTER(of, member, name, table)                                     \
	{                                                                             \
		.key = (name), .offset = offsetof(of, member), .type = FIELD_POINTER, \
		.fields = (table)                                                     \
	}
#define FIELD_OF_LIST(of, member, number, name, table, ...)                        \
	{                                                                          \
		.key = (name), .offset = offsetof(of, member), .type = FIELD_LIST, \
		.count = offsetof(of, number), .fields = (table), __VA_ARGS__      \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* Fill a struct that is all zero.  A failure is the reader's; the struct is then half filled, and
 * the caller clears it. */
void fields_read(const struct manifest_section *section, const struct fields *fields, void *ret);
/* Other keys of the object stay.  Those of an object inside stay only while all fields that
 * identify it have the same values. */
void fields_put(struct json_object *object, const struct fields *fields, const void *source);
/* *ret is overwritten, and the caller clears it. */
void fields_copy(const struct fields *fields, const void *source, void *ret);
/* Frees what the fields own, and makes the struct all zero. */
void fields_clear(const struct fields *fields, void *target);

/* A struct on the heap that keeps the object that it was read from.  what names the source and name
 * the object ("recipe.", "") for messages.  NULL: it is none, ERROR_CORRUPT.  The caller frees. */
void *fields_parse(struct json_object *object, const char *what, const char *name,
		   const struct fields *fields, struct error *err) MUST_USE;
struct json_object *fields_to_json(const struct fields *fields, const void *source) MUST_USE;
/* NULL is a copy of NULL, and can be freed. */
void *fields_duplicate(const struct fields *fields, const void *source) MUST_USE;
void fields_free(const struct fields *fields, void *target);

/* A number, a flag or an enum as a number; 0 for other types. */
int64_t field_number(const struct field *field, const void *source);
void field_set_number(const struct field *field, void *target, int64_t number);
/* Borrowed; of a FIELD_TEXT only, as is the next. */
char *field_text(const struct field *field, const void *source);
/* The struct then has this very text. */
void field_set_text(const struct field *field, void *target, char *text);
/* The field's value as a word; static. */
const char *field_word(const struct field *field, const void *source);
/* The number of a word in a list that ends with NULL; -1: it is none of them. */
int word_find(const char *const *words, const char *word);
