/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings-internal.h"

#include "model/naming.h"

#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static int store_size(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int64_t size;
	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_string))
		return toml_type_error(document, key->path, value, "a size, as in \"4G\"", err);
	if (!settings_parse_size(json_object_get_string(value), &size))
		return toml_error(document, key->path, err,
				  "%s is \"%s\": write a size as \"512M\", \"1.5G\" or in bytes, or \"infinity\"",
				  key->path, json_object_get_string(value));
	if (size != 0 && size < LIMIT_LEAST_MEMORY)
		return toml_error(
			document, key->path, err,
			"%s is %lld bytes, too little for any agent: write at least \"16M\", "
			"or 0 for no limit",
			key->path, (long long)size);
	*(int64_t *)field = size;
	return 0;
}

int settings_store_limit(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	struct toml_key number = *key;
	if (json_object_is_type(value, json_type_string) &&
	    streq(json_object_get_string(value), "infinity")) {
		*(int64_t *)field = LIMIT_INFINITY;
		return 0;
	}
	number.min = 0;
	number.max = limit_greatest((enum limit)key->min);
	return number.max ? toml_store_int(document, &number, value, field, err)
			  : store_size(document, key, value, field, err);
}

static int store_limits(const struct toml_document *document, const char *path,
			struct json_object *value, struct limits *ret, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, name);
		int limit = 0;
		while (limit < LIMIT_COUNT && !streq(limit_name((enum limit)limit), name))
			limit++;
		if (limit == LIMIT_COUNT)
			return toml_error(document, where, err, "there is no key \"%s\": limits are "
					  "memory_high, memory_max, tasks_max and cpu_weight", where);
		const struct toml_key key = { .path = where, .min = limit };
		if (settings_store_limit(document, &key, item, limit_of(ret, (enum limit)limit), err) < 0)
			return -1;
	}
	return 0;
}

static int store_group(const struct toml_document *document, const char *path, const char *name,
		       struct json_object *value, struct group_limits *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	if (is_empty(name) || naming_check_group(name, &local) < 0)
		return toml_error(document, path, err, "\"%s\" cannot be a group's name%s%s", name,
				  local.message ? ": " : "", or_empty(local.message));
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	ret->group = xstrdup(name);
	json_object_object_foreach(value, key, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, key);
		if (!streq(key, "limits"))
			return toml_error(document, where, err, "there is no key \"%s\": a group has "
					  "\"limits\", and a name with a slash needs quotes, as in "
					  "[groups.\"work/api\".limits]", where);
		if (store_limits(document, where, item, &ret->limits, err) < 0)
			return -1;
	}
	return 0;
}

int settings_store_groups(const struct toml_document *document, const char *path,
			  struct json_object *value, struct settings *ret, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	ret->groups = xcalloc((size_t)json_object_object_length(value) + 1, sizeof(*ret->groups));
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, name);
		if (store_group(document, where, name, item, &ret->groups[ret->group_count++], err) < 0)
			return -1;
	}
	return 0;
}

void settings_free_groups(struct settings *settings)
{
	for (size_t i = 0; i < settings->group_count; i++)
		free(settings->groups[i].group);
	free(settings->groups);
	settings->groups = NULL;
	settings->group_count = 0;
}

/* --- what holds ------------------------------------------------------------------------------- */

static const struct group_limits *find_group(const struct settings *settings, const char *name,
					     size_t length)
{
	for (size_t i = 0; i < settings->group_count; i++)
		if (strlen(settings->groups[i].group) == length &&
		    memcmp(settings->groups[i].group, name, length) == 0)
			return &settings->groups[i];
	return NULL;
}

int64_t settings_limit(const struct settings *settings, const struct instance *instance,
		       enum limit limit, enum limit_origin *ret_origin, const char **ret_group)
{
	const char *group = or_empty(instance->group);
	int64_t value = limit_value(&instance->limits, limit);
	*ret_group = NULL;
	*ret_origin = LIMIT_SAID_BY_SESSION;
	if (value)
		return value;
	*ret_origin = LIMIT_SAID_BY_GROUP;
	for (size_t length = strlen(group); length > 0;) {
		const struct group_limits *found = find_group(settings, group, length);
		value = found ? limit_value(&found->limits, limit) : 0;
		if (value) {
			*ret_group = found->group;
			return value;
		}
		/* The one around it: without what follows the last slash. */
		while (--length > 0 && group[length] != '/')
			;
	}
	value = limit_value(&settings->limits, limit);
	*ret_origin = value ? LIMIT_SAID_BY_GENERAL : LIMIT_SAID_BY_NOBODY;
	return value;
}

struct limits settings_limits(const struct settings *settings, const struct instance *instance)
{
	struct limits limits = { 0 };
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		enum limit_origin origin;
		const char *group;
		*limit_of(&limits, limit) = settings_limit(settings, instance, limit, &origin, &group);
	}
	return limits;
}

const char *limit_origin_name(enum limit_origin origin)
{
	static const char *const names[] = {
		[LIMIT_SAID_BY_NOBODY] = "none",
		[LIMIT_SAID_BY_SESSION] = "session",
		[LIMIT_SAID_BY_GROUP] = "group",
		[LIMIT_SAID_BY_GENERAL] = "general",
	};
	return names[origin];
}
