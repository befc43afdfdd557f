/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * TOML 1.0, read only, as a json-c tree: tables are objects, dates are strings.
 *
 * The reader uses toml++ (in the only C++ file of the program): Debian packages no C library for
 * TOML.
 */
#pragma once

#include "base/jsonio.h"

/* Parse a whole document.  A syntax error is ERROR_CORRUPT with the message
 * "<what>:<line>:<column>: <why>".  A NUL in a key is written as \000.  *ret is an object and the
 * caller's. */
int toml_parse(const char *text, size_t length, const char *what, struct json_object **ret,
	       struct error *err);

/* Like toml_parse(), and where its keys are.  *ret_places: toml_places_free(), which takes NULL. */
struct toml_places;
int toml_parse_placed(const char *text, size_t length, const char *what, struct json_object **ret,
		      struct toml_places **ret_places, struct error *err);
void toml_places_free(struct toml_places *places);
/* Like toml_position(), without parsing the text again. */
void toml_place(const struct toml_places *places, const char *path, unsigned *ret_line,
		unsigned *ret_column);

/* Line and column of the key path ("tmux.options.mouse": keys joined by dots) in the same text, for
 * messages about values that parse but make no sense.  An element of an array goes by its index:
 * "screen.ready.2".  1:1 when there is no such key. */
void toml_position(const char *text, size_t length, const char *path, unsigned *ret_line,
		   unsigned *ret_column);
