/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of config.toml's keys, for settings.c and values.c, and its longer parts.
 */
#pragma once

#include "base/tomlmap.h"

extern const struct toml_key settings_keys[];
extern const size_t settings_key_count;

/* [hosts.NAME], into a struct remotes (settings-hosts.c). */
int settings_store_hosts(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err);
