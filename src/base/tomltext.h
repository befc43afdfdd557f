/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys and values of TOML as text.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

/* The parts of a dotted key, as in TOML (a."b/c".d).  A part without quotes may hold any character
 * but a dot, so that groups.work/api.limits works on a command line.  ERROR_USAGE: a part is empty,
 * or a quote is not closed. */
int toml_split_key(const char *key, struct strvec *ret, struct error *err);
/* The reverse, with quotes where TOML needs them; from is the first part.  The caller frees. */
char *toml_join_key(const struct strvec *parts, size_t from) MUST_USE;
/* Likewise, of the parts before to. */
char *toml_join_parts(const struct strvec *parts, size_t from, size_t to) MUST_USE;
/* Append the parts of the key that this line has, such as "a.b = 0" or "[a.b]".  False: it is
 * nothing by itself. */
bool toml_add_path(const char *text, struct strvec *ret);

/* A value as TOML, on one line; NULL is "".  The caller frees. */
char *toml_literal(struct json_object *value) MUST_USE;
/* The value that this text is in TOML; the caller's.  False: it is not exactly one value. */
bool toml_parse_literal(const char *text, struct json_object **ret);
