/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/settings-internal.h"

#include <string.h>

const char *const settings_occasions[] = { "waiting", "idle",      "error", "held",
					   "oom",     "recovered", "ends",  NULL };

int settings_store_url(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	const int r = toml_store_string(document, key, value, field, err);
	const char *url = r == 0 ? *(char **)field : "";
	const char *host = starts_with(url, "https://")  ? url + strlen("https://")
			   : starts_with(url, "http://") ? url + strlen("http://")
							 : "";
	const char *topic = strrchr(host, '/');
	if (r < 0 || (topic && topic != host && topic[1] && !host[strcspn(host, " ?#\"")]))
		return r;
	return toml_error(document, key->path, err,
			  "%s is no URL like https://ntfy.example.com/topic", key->path);
}

int settings_store_occasions(const struct toml_document *document, const struct toml_key *key,
			     struct json_object *value, void *field, struct error *err)
{
	const struct strvec *chosen = field;
	int r = toml_store_strings(document, key, value, field, err);
	for (size_t i = 0; r == 0 && i < chosen->count; i++) {
		bool found = false;
		for (size_t j = 0; settings_occasions[j]; j++)
			found |= streq(chosen->items[i], settings_occasions[j]);
		if (!found)
			r = toml_error(document, key->path, err,
				       "%s holds \"%s\": it may hold "
				       "\"waiting\", \"idle\", \"error\", \"held\", \"oom\", "
				       "\"recovered\" and \"ends\"",
				       key->path, chosen->items[i]);
	}
	return r;
}
