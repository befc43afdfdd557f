/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/settings-internal.h"

#include "model/host/remote.h"
#include "model/session/naming.h"

/* The keys of [hosts.NAME], and the variables in a struct remote. */
static int store_host(const struct toml_document *document, const char *path, const char *name,
		      struct json_object *value, struct remote *ret, struct error *err)
{
	const struct toml_key key = { .path = path, .min = 1, .max = REMOTE_TIMEOUT_MAX_S };
	if (streq(name, "timeout"))
		return toml_store_int(document, &key, value, &ret->timeout_s, err);
	char **text = streq(name, "ssh")          ? &ret->ssh
		      : streq(name, "program")    ? &ret->program
		      : streq(name, "machine_id") ? &ret->machine_id
						  : NULL;
	if (!text)
		return toml_error(
			document, path, err,
			"unknown key \"%s\": a host has ssh, program, timeout and machine_id",
			path);
	if (toml_store_string(document, &key, value, text, err) < 0)
		return -1;
	if (text == &ret->ssh && !remote_is_destination(*text))
		return toml_error(document, path, err,
				  "%s is \"%s\": write what follows \"ssh\" on a command line: a "
				  "host, USER@HOST or ssh://USER@HOST:PORT",
				  path, *text);
	if (text == &ret->program && !remote_is_program(*text))
		return toml_error(document, path, err,
				  "%s is \"%s\": write a name, or a path that starts with \"/\" or "
				  "\"~/\", without blanks",
				  path, *text);
	if (text == &ret->machine_id && !naming_is_uuid(*text))
		return toml_error(document, path, err,
				  "%s is \"%s\": it is what agentdeck host add has written", path,
				  *text);
	return 0;
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
