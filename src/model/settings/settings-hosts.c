/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/settings-internal.h"

#include "model/host/remote.h"

/* The keys of [hosts.NAME], and the variables in a struct remote. */
static int store_host(const struct toml_document *document, const char *path, const char *name,
		      struct json_object *value, struct remote *ret, struct error *err)
{
	const struct toml_key key = { .path = path, .min = 1, .max = REMOTE_TIMEOUT_MAX_S };
	if (streq(name, "timeout"))
		return toml_store_int(document, &key, value, &ret->timeout_s, err);
	if (streq(name, "forward_agent"))
		return toml_store_bool(document, &key, value, &ret->forward_agent, err);
	const struct remote_text *text = remote_texts;
	while (text->key && !streq(text->key, name))
		text++;
	if (!text->key)
		return toml_error(
			document, path, err,
			"unknown key \"%s\": a host has ssh, program, timeout, machine_id and "
			"forward_agent; or kubernetes, context, namespace and uid in the place of "
			"ssh",
			path);
	char **field = remote_text(ret, text);
	if (toml_store_string(document, &key, value, field, err) < 0)
		return -1;
	return text->is_valid(*field) ? 0
				      : toml_error(document, path, err, "%s is \"%s\": %s", path,
						   *field, text->must);
}

int settings_store_hosts(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		CLEANUP(remote_free) struct remote remote = { .name = xstrdup(name) };
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		if (!remote_is_name(name))
			return toml_error(
				document, path, err,
				"\"%s\" is not a valid name of a host: use letters, "
				"digits, \"_\", \".\" and \"-\"; \"local\" is this machine",
				name);
		if (!json_object_is_type(item, json_type_object))
			return toml_type_error(document, path, item, "a table", err);
		json_object_object_foreach(item, what, of) {
			cleanup_free char *where = xasprintf("%s.%s", path, what);
			if (store_host(document, where, what, of, &remote, err) < 0)
				return -1;
		}
		remotes_add(field, &remote);
	}
	return 0;
}

int settings_check_hosts(const struct toml_document *document, const struct remotes *hosts,
			 struct error *err)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const char *why = remote_conflict(&hosts->items[i]);
		cleanup_free char *path = xasprintf("hosts.%s", hosts->items[i].name);
		if (why)
			return toml_error(document, path, err, "%s: %s", path, why);
	}
	return 0;
}
