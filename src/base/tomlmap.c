/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomlmap.h"

#include "base/toml.h"

#include <string.h>

int toml_document_parse(const char *text, size_t length, const char *what,
			struct toml_document *ret, struct error *err)
{
	struct toml_document document = { .what = what };
	if (toml_parse_placed(text, length, what, &document.root, &document.places, err) < 0)
		return -1;
	*ret = document;
	return 0;
}

void toml_document_free(struct toml_document *document)
{
	json_object_put(document->root);
	toml_places_free(document->places);
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
	toml_place(document->places, path, &line, &column);
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
		return toml_error(document, path, err, "%s must not contain a NUL character", path);
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

/* One with a similar spelling, or the same name in another table. */
const char *toml_nearest_key(const char *path, const struct toml_key *keys, size_t count)
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
	/* Continue after a mistake, and collect them here. */
	struct strvec *mistakes;
	const struct toml_target *scratch;
};

static int unknown_key(const struct walk *walk, const char *path, struct error *err)
{
	const char *nearest = toml_nearest_key(path, walk->keys, walk->count);
	if (nearest)
		return toml_error(walk->document, path, err,
				  "unknown key \"%s\": did you mean \"%s\"?", path, nearest);
	return toml_error(walk->document, path, err, "unknown key \"%s\"", path);
}

static int store(const struct walk *walk, const struct toml_key *key, struct json_object *value,
		 struct error *err)
{
	return key->store(walk->document, key, value, walk->target + key->offset, err);
}

/* {"a": {"b": value}} for the names {"a", "b"}; the caller's. */
static struct json_object *only(const struct strvec *names, struct json_object *value)
{
	struct json_object *object = json_object_get(value);
	for (size_t i = names->count; i > 0; i--) {
		struct json_object *outer = json_object_new_object();
		json_object_object_add(outer, names->items[i - 1], object);
		object = outer;
	}
	return object;
}

static void note(const struct walk *walk, const struct error *err)
{
	/* A bad name is said for each of the values below it. */
	if (!strvec_contains(walk->mistakes, err->message))
		strvec_push(walk->mistakes, err->message);
}

/* A store function ends at its first mistake: so give it each value of a table by itself. */
static void check_leaves(const struct walk *walk, const struct toml_key *key,
			 const struct strvec *names, struct json_object *value)
{
	cleanup_error struct error local = { 0 };
	if (json_object_is_type(value, json_type_object) && json_object_object_length(value) > 0) {
		json_object_object_foreach(value, name, item) {
			cleanup_strvec struct strvec deeper = { 0 };
			strvec_push_all(&deeper, names);
			strvec_push(&deeper, name);
			check_leaves(walk, key, &deeper, item);
		}
		return;
	}
	cleanup_json struct json_object *leaf = only(names, value);
	if (store(walk, key, leaf, &local) < 0)
		note(walk, &local);
	walk->scratch->clear(walk->target);
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
	if (exact && walk->mistakes) {
		static const struct strvec top = { 0 };
		check_leaves(walk, exact, &top, value);
		return 0;
	}
	if (exact)
		return store(walk, exact, value, err);
	if (is_table)
		return toml_type_error(walk->document, path, value, "a table", err);
	return unknown_key(walk, path, err);
}

static int walk_table(const struct walk *walk, struct json_object *table, const char *prefix,
		      struct error *err)
{
	json_object_object_foreach(table, name, value) {
		cleanup_free char *path = xasprintf("%s%s", prefix, name);
		cleanup_error struct error local = { 0 };
		int r = strchr(name, '.')
				? toml_error(walk->document, path, &local,
					     "a key with a dot in it: write %s without quotes",
					     path)
				: walk_value(walk, value, path, &local);
		if (r < 0 && !walk->mistakes)
			return error_move(err, &local);
		if (r < 0)
			note(walk, &local);
	}
	return 0;
}

int toml_document_store(const struct toml_document *document, const struct toml_key *keys,
			size_t count, void *target, struct error *err)
{
	struct walk walk = { document, keys, count, target, NULL, NULL };
	return walk_table(&walk, document->root, "", err);
}

void toml_document_check(const struct toml_document *document, const struct toml_key *keys,
			 size_t count, const struct toml_target *target, struct strvec *ret)
{
	struct walk walk = { document, keys, count, target->fields, ret, target };
	(void)walk_table(&walk, document->root, "", NULL);
}
