/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A JSON Schema (draft 2020-12) of a TOML file, from the table that reads it (base/tomlmap.h).  A
 * key that is added to the table is in the schema by itself.
 */
#pragma once

#include "base/tomlmap.h"

/* A JSON object with what the type of a key does not say; it replaces members of the schema. */
struct toml_shape {
	const char *path; /* "*.auth" is each key that ends so */
	const char *schema;
};

/* A whole schema, with a title.  shapes ends with a path of NULL.  The caller's. */
struct json_object *toml_schema(const char *title, const struct toml_key *keys, size_t count,
				const struct toml_shape *shapes) MUST_USE;
/* Lay a JSON object, as text of ours, over a schema. */
void toml_schema_lay(struct json_object *schema, const char *text);
/* An object with these members and no others; members may be NULL.  The caller's. */
struct json_object *toml_schema_object(struct json_object *members) MUST_USE;
