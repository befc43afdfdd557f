/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomlmap.h"

#include "base/toml.h"

#include <string.h>

int toml_document_parse(const char *text, size_t length, const char *what,
			struct toml_document *ret, struct error *err)
{
	struct json_object *root;
	int r = toml_parse(text, length, what, &root, err);
	if (r < 0)
		return r;
	*ret = (struct toml_document){ .text = text, .length = length, .what = what, .root = root };
	return 0;
}

void toml_document_free(struct toml_document *document)
{
	json_object_put(document->root);
	*document = (struct toml_document){ 0 };
}

bool toml_document_has(const struct toml_document *document, const char *path)
{
	struct json_object *object = document->root;
	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
		cleanup_free char *table = xstrndup(path, (size_t)(dot - path));
		object = json_get_object(object, table);
	}
	return object && json_object_object_get_ex(object, path, NULL);
}

int(toml_error)(const struct toml_document *document, const char *path, struct error *err,
		const char *format, ...)
{
	cleanup_strbuf struct strbuf why = { 0 };
	unsigned line, column;
	va_list args;
	va_start(args, format);
	cleanup_free char *text = xvasprintf(format, args);
	va_end(args);
	strbuf_add_visible(&why, text);
	toml_position(document->text, document->length, path, &line, &column);
	return error_set(err, ERROR_CORRUPT, "%s:%u:%u: %s", document->what, line, column,
			 strbuf_text(&why));
}

static const char *type_name(const struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_boolean:
		return "true or false";
	case json_type_int:
		return "a whole number";
	case json_type_double:
		return "a number with a fraction";
	case json_type_string:
		return "a string";
	case json_type_array:
		return "an array";
	default:
		return "a table";
	}
}

int(toml_type_error)(const struct toml_document *document, const char *path,
		     const struct json_object *value, const char *wanted, struct error *err)
{
	return toml_error(document, path, err, "%s must be %s, not %s", path, wanted,
			  type_name(value));
}

int toml_store_bool(const struct toml_document *document, const struct toml_key *key,
		    struct json_object *value, void *field, struct error *err)
{
	if (!json_object_is_type(value, json_type_boolean))
		return toml_type_error(document, key->path, value, "true or false", err);
	*(bool *)field = json_object_get_boolean(value);
	return 0;
}

int toml_store_int(const struct toml_document *document, const struct toml_key *key,
		   struct json_object *value, void *field, struct error *err)
{
	if (!json_object_is_type(value, json_type_int))
		return toml_type_error(document, key->path, value, "a whole number", err);
	int64_t number = json_object_get_int64(value);
	if (number < key->min || number > key->max)
		return toml_error(document, key->path, err,
				  "%s must be from %lld to %lld, not %lld", key->path,
				  (long long)key->min, (long long)key->max, (long long)number);
	*(int64_t *)field = number;
	return 0;
}

int toml_check_string(const struct toml_document *document, const char *path,
		      struct json_object *value, struct error *err)
{
	if (!json_object_is_type(value, json_type_string))
		return toml_type_error(document, path, value, "a string", err);
	if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return toml_error(document, path, err, "%s must not hold a NUL character", path);
	return 0;
}

int toml_store_string(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int r = toml_check_string(document, key->path, value, err);
	if (r < 0)
		return r;
	replace_string(field, json_object_get_string(value));
	return 0;
}

int toml_store_strings(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	struct strvec *vec = field;
	if (!json_object_is_type(value, json_type_array))
		return toml_type_error(document, key->path, value, "an array of strings", err);
	strvec_clear(vec);
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		struct json_object *item = json_object_array_get_idx(value, i);
		cleanup_free char *path = xasprintf("%s.%zu", key->path, i);
		int r = toml_check_string(document, path, item, err);
		if (r < 0)
			return r;
		strvec_push(vec, json_object_get_string(item));
	}
	return 0;
}

int toml_store_word(const struct toml_document *document, const struct toml_key *key,
		    struct json_object *value, void *field, struct error *err)
{
	cleanup_strbuf struct strbuf known = { 0 };
	const char *const *words = key->words;
	int r = toml_check_string(document, key->path, value, err);
	if (r < 0)
		return r;
	const char *text = json_object_get_string(value);
	for (unsigned i = 0; words[i]; i++) {
		if (streq(text, words[i])) {
			*(unsigned *)field = (unsigned)key->min + i;
			return 0;
		}
		strbuf_addf(&known, "%s\"%s\"", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	return toml_error(document, key->path, err, "%s must be %s, not \"%s\"", key->path,
			  strbuf_text(&known), text);
}

/* The key that path most likely means: one with a similar spelling, or the same name in another
 * table. NULL when none is near. */
static const char *nearest_key(const char *path, const struct toml_key *keys, size_t count)
{
	const char *nearest = NULL;
	size_t least = strlen(path) / 3 + 1;
	for (size_t i = 0; i < count; i++) {
		size_t away = text_distance(path, keys[i].path);
		if (away <= least && (!nearest || away < least)) {
			nearest = keys[i].path;
			least = away;
		}
	}
	for (size_t i = 0; i < count && !nearest; i++) {
		const char *dot = strrchr(path, '.'), *key_dot = strrchr(keys[i].path, '.');
		if (streq(dot ? dot + 1 : path, key_dot ? key_dot + 1 : keys[i].path))
			nearest = keys[i].path;
	}
	return nearest;
}

struct walk {
	const struct toml_document *document;
	const struct toml_key *keys;
	size_t count;
	char *target;
};

static int unknown_key(const struct walk *walk, const char *path, struct error *err)
{
	const char *nearest = nearest_key(path, walk->keys, walk->count);
	if (nearest)
		return toml_error(walk->document, path, err,
				  "there is no key \"%s\": did you mean \"%s\"?", path, nearest);
	return toml_error(walk->document, path, err, "there is no key \"%s\"", path);
}

static int walk_table(const struct walk *walk, struct json_object *table, const char *prefix,
		      struct error *err);

static int walk_value(const struct walk *walk, struct json_object *value, const char *path,
		      struct error *err)
{
	const struct toml_key *exact = NULL;
	bool is_table = false;
	for (size_t i = 0; i < walk->count; i++) {
		const char *known = walk->keys[i].path;
		if (streq(known, path))
			exact = walk->keys + i;
		else if (starts_with(known, path) && known[strlen(path)] == '.')
			is_table = true;
	}
	if (is_table && json_object_is_type(value, json_type_object)) {
		cleanup_free char *prefix = xasprintf("%s.", path);
		return walk_table(walk, value, prefix, err);
	}
	if (exact)
		return exact->store(walk->document, exact, value, walk->target + exact->offset,
				    err);
	if (is_table)
		return toml_type_error(walk->document, path, value, "a table", err);
	return unknown_key(walk, path, err);
}

static int walk_table(const struct walk *walk, struct json_object *table, const char *prefix,
		      struct error *err)
{
	json_object_object_foreach(table, name, value) {
		cleanup_free char *path = xasprintf("%s%s", prefix, name);
		if (strchr(name, '.'))
			return toml_error(walk->document, path, err,
					  "a key with a dot in it: write %s without quotes", path);
		int r = walk_value(walk, value, path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int toml_document_store(const struct toml_document *document, const struct toml_key *keys,
			size_t count, void *target, struct error *err)
{
	struct walk walk = { document, keys, count, target };
	return walk_table(&walk, document->root, "", err);
}
