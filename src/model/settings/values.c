/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/values.h"

#include "base/tomltext.h"
#include "model/settings/settings-internal.h"

#include <stdlib.h>
#include <string.h>

const struct toml_key *settings_key(size_t index)
{
	for (size_t i = 0; i < settings_key_count; i++)
		if (settings_keys[i].about && index-- == 0)
			return settings_keys + i;
	return NULL;
}

const struct toml_key *settings_find_key(const char *path, const char **ret_nearest)
{
	for (size_t i = 0; i < settings_key_count; i++) {
		const struct toml_key *key = settings_keys + i;
		if (key->about && starts_with(path, key->path) &&
		    (!path[strlen(key->path)] ||
		     (key->type == TOML_TABLE && path[strlen(key->path)] == '.')))
			return key;
	}
	if (ret_nearest)
		*ret_nearest = toml_nearest_key(path, settings_keys, settings_key_count);
	return NULL;
}

static struct json_object *limit_json(enum limit limit, int64_t value)
{
	cleanup_free char *text = limit_text(limit, value);
	const bool is_text = value && (value == LIMIT_INFINITY || !limit_greatest(limit));
	return is_text ? json_text(text) : json_object_new_int64(value);
}

static struct json_object *strings_json(const struct strvec *strings)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < strings->count; i++)
		json_object_array_add(array, json_text(strings->items[i]));
	return array;
}

static struct json_object *word_json(const struct toml_key *key, unsigned value)
{
	if (key->words)
		return json_object_new_string(key->words[value - (unsigned)key->min]);
	return value == UNSET ? NULL : json_object_new_boolean(value == ON);
}

struct json_object *settings_value(const struct settings *settings, const struct toml_key *key)
{
	const void *field = (const char *)settings + key->offset;
	switch (key->type) {
	case TOML_BOOL:
		return json_object_new_boolean(*(const bool *)field);
	case TOML_INT:
		return starts_with(key->path, "limits.")
			       ? limit_json((enum limit)key->min, *(const int64_t *)field)
			       : json_object_new_int64(*(const int64_t *)field);
	case TOML_STRING:
		return *(char *const *)field ? json_text(*(char *const *)field) : NULL;
	case TOML_STRINGS:
		return strings_json(field);
	case TOML_WORD:
		return word_json(key, *(const unsigned *)field);
	default:
		return NULL;
	}
}

/* "resume.policy" is policy in [resume]. */
static size_t table_length(const struct toml_key *key)
{
	const char *dot = strrchr(key->path, '.');
	return dot ? (size_t)(dot - key->path) : 0;
}

static void add_key(struct strbuf *text, const struct settings *defaults,
		    const struct toml_key *key)
{
	const size_t table = table_length(key);
	cleanup_json struct json_object *value = settings_value(defaults, key);
	cleanup_free char *literal = key->example ? xstrdup(key->example) : toml_literal(value);
	strbuf_addf(text, "# %c%s.\n# %s = %s\n", key->about[0] & ~('a' ^ 'A'), key->about + 1,
		    key->path + (table ? table + 1 : 0), literal);
}

char *settings_starter(void)
{
	cleanup_settings struct settings defaults = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	const char *table = "";
	size_t length = 0;
	settings_init(&defaults);
	strbuf_adds(&text,
		    "# The configuration of agentdeck.  Each line that begins with \"# key =\""
		    " shows a default or\n# an example: remove the # and change the value."
		    "  See agentdeck-config(5).\n");
	const struct toml_key *key;
	for (size_t i = 0; (key = settings_key(i)); i++) {
		const size_t own = table_length(key);
		/* A table of the user's names has its own heading. */
		if (key->type == TOML_TABLE) {
			strbuf_addf(&text, "\n# %c%s.\n[%s]\n# %s\n", key->about[0] & ~('a' ^ 'A'),
				    key->about + 1, key->path, key->example);
			table = key->path;
			length = strlen(table);
			continue;
		}
		if (own != length || strncmp(table, key->path, own) != 0)
			strbuf_addf(&text, "\n[%.*s]\n", (int)own, key->path);
		else
			strbuf_adds(&text, "\n");
		table = key->path;
		length = own;
		add_key(&text, &defaults, key);
	}
	return strbuf_take(&text);
}

/* By line and column: strverscmp(3) compares the numbers in them as such. */
static int compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void clear(void *fields)
{
	settings_free(fields);
}

void settings_check(const char *text, size_t length, const char *what, struct strvec *ret)
{
	cleanup_toml_document struct toml_document document = { 0 };
	cleanup_settings struct settings scratch = { 0 };
	cleanup_strvec struct strvec found = { 0 };
	cleanup_error struct error err = { 0 };
	if (toml_document_parse(text, length, what, &document, &err) < 0) {
		strvec_push(ret, err.message);
		return;
	}
	toml_document_check(&document, settings_keys, settings_key_count,
			    &(struct toml_target){ &scratch, clear }, &found);
	/* Values that are right by themselves may not go together. */
	if (!found.count && settings_parse(text, length, what, &scratch, &err) < 0)
		strvec_push(&found, err.message);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), compare);
	strvec_push_all(ret, &found);
}
