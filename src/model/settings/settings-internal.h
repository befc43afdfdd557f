/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of config.toml's keys, for settings.c and values.c, and its longer parts.
 */
#pragma once

#include "base/tomlmap.h"
#include "model/host/remote.h"

extern const struct toml_key settings_keys[];
extern const size_t settings_key_count;

/* [hosts.NAME], into a struct remotes (settings-hosts.c). */
int settings_store_hosts(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err);
/* ERROR_CORRUPT: values of a host do not go together. */
int settings_check_hosts(const struct toml_document *document, const struct remotes *hosts,
			 struct error *err);

/* A text of [container] that is not empty and, for some of the keys, one of their words. */
int settings_store_choice(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err);

/* The words that a key of [container] may be, or NULL: it is another text. */
const char *const *settings_choice_words(const char *path);

/* The words of [notify] on, and a list of some of them (settings-notify.c). */
extern const char *const settings_occasions[];
int settings_store_occasions(const struct toml_document *document, const struct toml_key *key,
			     struct json_object *value, void *field, struct error *err);
/* A URL of http or https with a host and a path. */
int settings_store_url(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err);
/* [session] sleep_after. */
int settings_store_sleep(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err);
