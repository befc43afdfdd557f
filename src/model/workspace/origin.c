/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workspace/origin.h"

#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

enum { SCHEMA = 1 };

static const char *const kinds[] = { [ORIGIN_WORKTREE] = "worktree", [ORIGIN_CLONE] = "clone" };

static bool is_hex(const char *text, size_t digits)
{
	return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

/* 40 lower-case hexadecimal digits? */
static bool origin_is_oid(const char *text)
{
	return is_hex(text, ORIGIN_OID_SIZE - 1);
}

static void add_pair(struct origin_pair **pairs, size_t *count, const char *name, const char *value)
{
	/* Doubled at each power of two: there may be 100,000 refs. */
	if ((*count & (*count - 1)) == 0)
		*pairs = xreallocarray(*pairs, *count ? 2 * *count : 1, sizeof(**pairs));
	(*pairs)[(*count)++] = (struct origin_pair){ xstrdup(name), xstrdup(value) };
}

void origin_add_ref(struct origin *origin, const char *name, const char *oid)
{
	add_pair(&origin->refs, &origin->ref_count, name, oid);
}

void origin_add_remote(struct origin *origin, const char *name, const char *address)
{
	add_pair(&origin->remotes, &origin->remote_count, name, address);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct origin_pair *)a)->name, ((const struct origin_pair *)b)->name);
}

const char *origin_ref(const struct origin *origin, const char *name)
{
	const struct origin_pair key = { .name = (char *)(uintptr_t)name };
	const struct origin_pair *found = origin->ref_count
						  ? bsearch(&key, origin->refs, origin->ref_count,
							    sizeof(*origin->refs), compare_names)
						  : NULL;
	return found ? found->value : NULL;
}

const char *origin_remote(const struct origin *origin, const char *name)
{
	for (size_t i = 0; i < origin->remote_count; i++)
		if (streq(origin->remotes[i].name, name))
			return origin->remotes[i].value;
	return NULL;
}

static void free_pairs(struct origin_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

void origin_free(struct origin *origin)
{
	free(origin->source);
	free(origin->path);
	free(origin->branch);
	free(origin->base);
	free(origin->into);
	free(origin->exclude);
	free_pairs(origin->refs, origin->ref_count);
	free_pairs(origin->remotes, origin->remote_count);
	strvec_clear(&origin->stashes);
	*origin = (struct origin){ 0 };
}

/* ---- JSON ---- */

static struct json_object *pairs_to_json(const struct origin_pair *pairs, size_t count)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < count; i++) {
		struct json_object *pair = json_object_new_array();
		json_object_array_add(pair, json_raw_text(pairs[i].name));
		json_object_array_add(pair, json_raw_text(pairs[i].value));
		json_object_array_add(array, pair);
	}
	return array;
}

struct json_object *origin_to_json(const struct origin *origin)
{
	struct json_object *json = json_object_new_object();
	json_set_int(json, "schema", SCHEMA);
	json_set_string(json, "kind", kinds[origin->kind]);
	json_set(json, "source", json_raw_text(origin->source));
	json_set(json, "path", json_raw_text(origin->path));
	json_set(json, "branch", origin->branch ? json_raw_text(origin->branch) : NULL);
	json_set_string(json, "base", origin->base);
	if (origin->into)
		json_set(json, "into", json_raw_text(origin->into));
	json_set_bool(json, "made_branch", origin->made_branch);
	json_set(json, "refs", pairs_to_json(origin->refs, origin->ref_count));
	json_set(json, "remotes", pairs_to_json(origin->remotes, origin->remote_count));
	json_set_strings(json, "stashes", &origin->stashes);
	json_set_string(json, "exclude", origin->exclude);
	return json;
}

static int corrupt(struct error *err, const char *what)
{
	return error_set(err, ERROR_CORRUPT, "record: %s", what);
}

/* A text without a NUL in it; NULL: it is none. */
static char *raw_text(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string) &&
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return NULL;
	return json_raw_text_of(value);
}

static int read_pairs(struct json_object *array, struct origin_pair **pairs, size_t *count,
		      struct error *err)
{
	if (!array)
		return corrupt(err, "a list is missing");
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *pair = json_object_array_get_idx(array, i);
		if (!json_object_is_type(pair, json_type_array) ||
		    json_object_array_length(pair) != 2)
			return corrupt(err, "an entry of a list is not a pair");
		cleanup_free char *name = raw_text(json_object_array_get_idx(pair, 0));
		cleanup_free char *value = raw_text(json_object_array_get_idx(pair, 1));
		if (!name || !*name || !value)
			return corrupt(err, "an entry of a list is not a pair of texts");
		add_pair(pairs, count, name, value);
	}
	return 0;
}

static int read_path(struct json_object *json, const char *key, char **ret, struct error *err)
{
	*ret = raw_text(json_object_object_get(json, key));
	if (!*ret || **ret != '/')
		return error_set(err, ERROR_CORRUPT, "record: %s is not an absolute path", key);
	return 0;
}

static int read_kind(struct json_object *json, enum origin_kind *ret, struct error *err)
{
	const char *word = json_get_string(json, "kind", "");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (streq(kinds[i], word)) {
			*ret = (enum origin_kind)i;
			return 0;
		}
	return corrupt(err, "kind is neither worktree nor clone");
}

/* A member that may be null or missing, and else is a text for which is_right holds. */
static int read_optional(struct json_object *json, const char *key, bool (*is_right)(const char *),
			 char **ret, struct error *err)
{
	struct json_object *value = json_object_object_get(json, key);
	if (!value)
		return 0;
	*ret = raw_text(value);
	if (!*ret || !is_right(*ret))
		return error_set(err, ERROR_CORRUPT, "record: %s is wrong", key);
	return 0;
}

static bool is_name(const char *text)
{
	return *text != '\0';
}

static bool is_digest(const char *text)
{
	return is_hex(text, SHA256_TEXT_SIZE - 1);
}

static int check_oids(const struct origin *origin, struct error *err)
{
	for (size_t i = 0; i < origin->ref_count; i++)
		if (!starts_with(origin->refs[i].name, "refs/") ||
		    !origin_is_oid(origin->refs[i].value))
			return corrupt(err, "an entry of refs is not a ref");
	for (size_t i = 0; i < origin->stashes.count; i++)
		if (!origin_is_oid(origin->stashes.items[i]))
			return corrupt(err, "an entry of stashes is not an object");
	return 0;
}

static int from_json(struct json_object *json, struct origin *origin, struct error *err)
{
	if (json_get_int(json, "schema", 0) != SCHEMA)
		return corrupt(err, "not a record, or of another version");
	if (read_kind(json, &origin->kind, err) < 0 ||
	    read_path(json, "source", &origin->source, err) < 0 ||
	    read_path(json, "path", &origin->path, err) < 0 ||
	    read_optional(json, "branch", is_name, &origin->branch, err) < 0 ||
	    read_optional(json, "base", origin_is_oid, &origin->base, err) < 0 ||
	    read_optional(json, "into", is_name, &origin->into, err) < 0 ||
	    read_optional(json, "exclude", is_digest, &origin->exclude, err) < 0 ||
	    read_pairs(json_get_array(json, "refs"), &origin->refs, &origin->ref_count, err) < 0 ||
	    read_pairs(json_get_array(json, "remotes"), &origin->remotes, &origin->remote_count,
		       err) < 0)
		return -1;
	origin->made_branch = json_get_bool(json, "made_branch", false);
	json_get_strings(json, "stashes", &origin->stashes);
	return check_oids(origin, err);
}

int origin_parse(const char *text, size_t length, struct origin *ret, struct error *err)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_origin struct origin origin = { 0 };
	if (length > ORIGIN_JSON_MOST)
		return error_set(err, ERROR_CORRUPT, "record: over %d bytes", ORIGIN_JSON_MOST);
	if (json_parse(text, length, "record", &json, err) < 0 || from_json(json, &origin, err) < 0)
		return -1;
	if (origin.ref_count)
		qsort(origin.refs, origin.ref_count, sizeof(*origin.refs), compare_names);
	*ret = origin;
	origin = (struct origin){ 0 };
	return 0;
}
