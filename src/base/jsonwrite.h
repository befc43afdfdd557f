/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON that is only printed: its text is written member by member, without objects of json-c.
 *
 * The text is what json-c prints of the same values, with one difference: characters that JSON
 * allows in a string and a terminal obeys (DEL, C1, what text_reorders() finds) become \uXXXX.
 */
#pragma once

#include "base/jsonio.h"

/* Zero-initialised is empty. */
struct json_writer {
	struct strbuf text;
	bool is_line;     /* all on one line, without spaces; else indented */
	int depth;        /* how many objects and arrays are open */
	bool has_members; /* the innermost of them has some */
};
void json_writer_free(struct json_writer *writer);
#define cleanup_json_writer CLEANUP(json_writer_free)

/* key: NULL in an array, and for the outermost value.  bracket: '{' or '[', and '}' or ']'. */
void json_write_begin(struct json_writer *writer, const char *key, char bracket);
void json_write_end(struct json_writer *writer, char bracket);
/* Texts may be NULL: JSON null.  Bytes that are not UTF-8 are made visible first. */
void json_write_string(struct json_writer *writer, const char *key, const char *value);
void json_write_int(struct json_writer *writer, const char *key, int64_t value);
void json_write_bool(struct json_writer *writer, const char *key, bool value);
/* Any value of json-c. */
void json_write_value(struct json_writer *writer, const char *key, struct json_object *value);
