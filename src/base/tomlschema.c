/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomlschema.h"

#include <string.h>

void toml_schema_lay(struct json_object *schema, const char *text)
{
	cleanup_json struct json_object *shape = NULL;
	if (json_parse(text, strlen(text), "a schema", &shape, NULL) < 0)
		abort();
	json_object_object_foreach(shape, key, value) {
		json_set(schema, key, json_object_get(value));
	}
}

struct json_object *toml_schema_object(struct json_object *members)
{
	struct json_object *schema = json_object_new_object();
	json_set_string(schema, "type", "object");
	json_set(schema, "properties", members ? members : json_object_new_object());
	json_set_bool(schema, "additionalProperties", false);
	return schema;
}

static struct json_object *array_of_words(const char *const *words)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; words[i]; i++)
		json_object_array_add(array, json_text(words[i]));
	return array;
}

/* By what stores it, and, for a store function of the table's own, by what the field holds. */
static enum toml_type type_of(const struct toml_key *key)
{
	if (key->store == toml_store_bool)
		return TOML_BOOL;
	if (key->store == toml_store_int)
		return TOML_INT;
	if (key->store == toml_store_strings)
		return TOML_STRINGS;
	if (key->store == toml_store_word)
		return TOML_WORD;
	/* Copies of an optional flag have no words. */
	return key->type == TOML_WORD && !key->words ? TOML_BOOL
	       : key->type == TOML_OTHER             ? TOML_STRING
						     : key->type;
}

static void add_type(struct json_object *schema, const struct toml_key *key)
{
	static const char *const names[] = {
		[TOML_BOOL] = "boolean",  [TOML_INT] = "integer", [TOML_STRING] = "string",
		[TOML_STRINGS] = "array", [TOML_WORD] = "string", [TOML_TABLE] = "object",
	};
	const enum toml_type type = type_of(key);
	json_set_string(schema, "type", names[type]);
	if (key->store == toml_store_int) {
		json_set_int(schema, "minimum", key->min);
		json_set_int(schema, "maximum", key->max);
	}
	if (type == TOML_STRINGS)
		json_set_string(json_make_object(schema, "items"), "type", "string");
	if (key->words)
		json_set(type == TOML_STRINGS ? json_get_object(schema, "items") : schema, "enum",
			 array_of_words(key->words));
}

static bool is_of(const struct toml_shape *shape, const char *path)
{
	return *shape->path == '*' ? ends_with(path, shape->path + 1) : streq(shape->path, path);
}

static struct json_object *schema_of(const struct toml_key *key, const struct toml_shape *shapes)
{
	struct json_object *schema = json_object_new_object();
	if (key->about)
		json_set_string(schema, "description", key->about);
	add_type(schema, key);
	for (; shapes->path; shapes++)
		if (is_of(shapes, key->path))
			toml_schema_lay(schema, shapes->schema);
	return schema;
}

/* The members of the table of this name.  "resume" may be a value or a table. */
static struct json_object *members_of(struct json_object *members, const char *name)
{
	struct json_object *found = json_get_object(members, name);
	struct json_object *either = found ? json_get_array(found, "anyOf") : NULL;
	if (!found || (!either && !json_get_object(found, "properties"))) {
		struct json_object *table = toml_schema_object(NULL);
		if (found) {
			either = json_object_new_array();
			json_object_array_add(either, json_object_get(found));
			json_object_array_add(either, json_object_get(table));
			struct json_object *choice = json_object_new_object();
			json_set(choice, "anyOf", either);
			json_set(members, name, choice);
			json_object_put(table);
		} else {
			json_set(members, name, table);
		}
		return json_get_object(table, "properties");
	}
	return json_get_object(either ? json_object_array_get_idx(either, 1) : found, "properties");
}

struct json_object *toml_schema(const char *title, const struct toml_key *keys, size_t count,
				const struct toml_shape *shapes)
{
	struct json_object *root = json_object_new_object();
	cleanup_json struct json_object *object = toml_schema_object(NULL);
	json_set_string(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_set_string(root, "title", title);
	json_object_object_foreach(object, name, value) {
		json_set(root, name, json_object_get(value));
	}
	for (size_t i = 0; i < count; i++) {
		struct json_object *members = json_get_object(root, "properties");
		cleanup_free char *path = xstrdup(keys[i].path);
		char *rest = path, *part = strsep(&rest, ".");
		for (; rest; part = strsep(&rest, "."))
			members = members_of(members, part);
		json_set(members, part, schema_of(keys + i, shapes));
	}
	return root;
}
