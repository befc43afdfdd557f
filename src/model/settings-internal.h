/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between settings.c and settings-limits.c.
 */
#pragma once

#include "base/tomlmap.h"
#include "model/settings.h"

/* A store function (base/tomlmap.h) for the limit that key->min says: int64_t. */
int settings_store_limit(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err);

/* The table [groups], which stands at path, into ret. */
int settings_store_groups(const struct toml_document *document, const char *path,
			  struct json_object *value, struct settings *ret, struct error *err);
void settings_free_groups(struct settings *settings);
