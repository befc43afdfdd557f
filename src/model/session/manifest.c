/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/manifest-internal.h"

#include "base/clock.h"

#include <string.h>

int manifest_check_format(const struct json_object *object, const char *what, int newest,
			  struct error *err)
{
	const int64_t format = json_get_int(object, "format", 0);
	if (format > newest)
		return error_set(err, ERROR_NEWER,
				 "%s: format %lld was written by a newer agentdeck (this one knows "
				 "up to %d): install that version",
				 what, (long long)format, newest);
	return format < 1 ? error_set(err, ERROR_CORRUPT,
				      "%s: format is missing or not a format number", what)
			  : 0;
}

void manifest_fail(const struct manifest_section *section, const char *key, const char *why)
{
	if (section->reader->failed)
		return;
	section->reader->failed = true;
	error_set(section->reader->err, ERROR_CORRUPT, "%s: %s%s %s", section->reader->what,
		  section->name, key, why);
}

struct json_object *manifest_member(const struct manifest_section *section, const char *key,
				    enum json_type type)
{
	struct json_object *value;
	if (!section->object || !json_object_object_get_ex(section->object, key, &value) || !value)
		return NULL;
	if (json_object_is_type(value, type))
		return value;
	manifest_fail(section, key,
		      type == json_type_object    ? "is not an object"
		      : type == json_type_array   ? "is not an array"
		      : type == json_type_int     ? "is not an integer"
		      : type == json_type_boolean ? "is not true or false"
						  : "is not a string");
	return NULL;
}

bool manifest_require(const struct manifest_section *section, const char *key)
{
	struct json_object *value;
	if (section->object && json_object_object_get_ex(section->object, key, &value) && value)
		return true;
	manifest_fail(section, key, "is missing");
	return false;
}

struct manifest_section manifest_section(const struct manifest_section *section, const char *key,
					 const char *name)
{
	return (struct manifest_section){ .reader = section->reader,
					  .name = name,
					  .object = manifest_member(section, key,
								    json_type_object) };
}

char *manifest_text(const struct manifest_section *section, const char *key)
{
	struct json_object *value;
	if (!section->object || !json_object_object_get_ex(section->object, key, &value) || !value)
		return NULL;
	char *text = json_raw_text_of(value);
	if (!text)
		manifest_fail(section, key, "is not a string");
	return text;
}

char *manifest_need_text(const struct manifest_section *section, const char *key)
{
	char *text = manifest_require(section, key) ? manifest_text(section, key) : NULL;
	if (text && !*text)
		manifest_fail(section, key, "is empty");
	return text;
}

void manifest_texts(const struct manifest_section *section, const char *key, struct strvec *ret)
{
	struct json_object *array = manifest_member(section, key, json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		char *text = json_raw_text_of(json_object_array_get_idx(array, i));
		if (!text) {
			manifest_fail(section, key, "holds something that is not a string");
			return;
		}
		strvec_push_take(ret, text);
	}
}

int64_t manifest_int(const struct manifest_section *section, const char *key, int64_t max)
{
	struct json_object *value = manifest_member(section, key, json_type_int);
	int64_t number = value ? json_object_get_int64(value) : 0;
	if (number < 0 || number > max) {
		manifest_fail(section, key, "is out of range");
		return 0;
	}
	return number;
}

bool manifest_bool(const struct manifest_section *section, const char *key)
{
	struct json_object *value = manifest_member(section, key, json_type_boolean);
	return value && json_object_get_boolean(value);
}

int64_t manifest_parse_time(struct json_object *value)
{
	int64_t time = json_object_is_type(value, json_type_string)
			       ? clock_parse(json_object_get_string(value))
			       : -1;
	return time > INT64_C(253402300799999000) ? -1 : time;
}

int64_t manifest_time(const struct manifest_section *section, const char *key)
{
	struct json_object *value = manifest_member(section, key, json_type_string);
	int64_t time = value ? manifest_parse_time(value) : 0;
	if (time < 0) {
		manifest_fail(section, key, "is not a time such as 2026-04-14T09:08:01.000Z");
		return 0;
	}
	return time;
}

void manifest_put_text(struct json_object *object, const char *key, const char *text)
{
	if (text)
		json_set(object, key, json_raw_text(text));
	else
		json_object_object_del(object, key);
}

void manifest_put_texts(struct json_object *object, const char *key, const struct strvec *texts)
{
	struct json_object *array = json_object_new_array();
	if (!array)
		abort();
	for (size_t i = 0; i < texts->count; i++)
		if (json_object_array_add(array, json_raw_text(texts->items[i])) < 0)
			abort();
	json_set(object, key, array);
}

struct json_object *manifest_copy(struct json_object *source)
{
	struct json_object *copy = NULL;
	if (!source)
		copy = json_object_new_object();
	else if (json_object_deep_copy(source, &copy, NULL) < 0)
		copy = NULL;
	if (!copy)
		abort();
	return copy;
}
