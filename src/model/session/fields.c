/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/fields.h"

#include "base/clock.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 128 };

/* owner: the struct that has the field.  A table serves const ones and others alike. */
static void *member_of(const void *owner, size_t offset)
{
	return (char *)(uintptr_t)owner + offset;
}

static size_t *count_of(const struct field *field, const void *owner)
{
	return member_of(owner, field->count);
}

static char **items_of(const struct field *field, const void *owner)
{
	return member_of(owner, field->offset);
}

static struct strvec *texts_of(const struct field *field, const void *owner)
{
	return member_of(owner, field->offset);
}

char *field_text(const struct field *field, const void *owner)
{
	assert(field->type == FIELD_TEXT);
	return *(char **)member_of(owner, field->offset);
}

void field_set_text(const struct field *field, void *owner, char *text)
{
	assert(field->type == FIELD_TEXT);
	*(char **)member_of(owner, field->offset) = text;
}

int64_t field_number(const struct field *field, const void *owner)
{
	const void *member = member_of(owner, field->offset);
	switch (field->type) {
	case FIELD_FLAG:
		return *(const bool *)member;
	case FIELD_INT:
		return *(const int *)member;
	case FIELD_UNSIGNED:
		return *(const unsigned *)member;
	case FIELD_NUMBER:
	case FIELD_TIME:
		return *(const int64_t *)member;
	case FIELD_COUNT:
		return (int64_t) * (const uint64_t *)member;
	default:
		return 0;
	}
}

void field_set_number(const struct field *field, void *owner, int64_t number)
{
	void *member = member_of(owner, field->offset);
	switch (field->type) {
	case FIELD_FLAG:
		*(bool *)member = number != 0;
		break;
	case FIELD_INT:
		*(int *)member = (int)number;
		break;
	case FIELD_UNSIGNED:
		*(unsigned *)member = (unsigned)number;
		break;
	case FIELD_NUMBER:
	case FIELD_TIME:
		*(int64_t *)member = number;
		break;
	case FIELD_COUNT:
		*(uint64_t *)member = (uint64_t)number;
		break;
	default:
		break;
	}
}

static void *pointer_of(const struct field *field, const void *owner)
{
	return *(void **)member_of(owner, field->offset);
}

static bool has_value(const struct field *field, const void *owner);

/* Is it there?  It is if a field that decides has a value, or if none decides. */
static bool is_there(const struct fields *fields, const void *source)
{
	bool decided = false;
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		if (field->decides && has_value(field, source))
			return true;
		decided = decided || field->decides;
	}
	return !decided;
}

static bool has_value(const struct field *field, const void *owner)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_POINTER:
		return pointer_of(field, owner) != NULL;
	case FIELD_TEXTS:
		return texts_of(field, owner)->count > 0;
	case FIELD_LIST:
		return *count_of(field, owner) > 0;
	case FIELD_STRUCT:
		return is_there(field->fields, member_of(owner, field->offset));
	default:
		return field_number(field, owner) != 0;
	}
}

const char *field_word(const struct field *field, const void *owner)
{
	return field->words[field_number(field, owner)];
}

int word_find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (streq(words[i], word))
			return i;
	return -1;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void read_text(const struct manifest_section *section, const struct field *field,
		      void *owner)
{
	char *text = field->needed ? manifest_need_text(section, field->key)
				   : manifest_text(section, field->key);
	field_set_text(field, owner, text);
	if (text && field->is_path && *text != '/')
		manifest_fail(section, field->key, "is not an absolute path");
}

static void read_texts(const struct manifest_section *section, const struct field *field,
		       void *owner)
{
	struct strvec *texts = texts_of(field, owner);
	manifest_texts(section, field->key, texts);
	if (field->needed && !texts->count)
		manifest_fail(section, field->key, "is empty");
}

static void read_word(const struct manifest_section *section, const struct field *field,
		      void *owner)
{
	struct json_object *value = manifest_member(section, field->key, json_type_string);
	const int number = value ? word_find(field->words, json_object_get_string(value))
				 : (int)field->absent;
	if (number < 0 && !field->other)
		manifest_fail(section, field->key, "has an unknown value");
	else
		field_set_number(field, owner, number < 0 ? (int64_t)field->other : number);
}

static void read_number(const struct manifest_section *section, const struct field *field,
			void *owner)
{
	int64_t max = field->max ? field->max : INT64_MAX;
	if (field->type == FIELD_FLAG)
		field_set_number(field, owner, manifest_bool(section, field->key));
	else if (field->type == FIELD_TIME)
		field_set_number(field, owner, manifest_time(section, field->key));
	else if (field->words)
		read_word(section, field, owner);
	else if (field->type == FIELD_INT || field->type == FIELD_UNSIGNED)
		field_set_number(field, owner,
				 manifest_int(section, field->key, max < INT_MAX ? max : INT_MAX));
	else
		field_set_number(field, owner, manifest_int(section, field->key, max));
}

static void *make(const struct manifest_section *section, const struct fields *fields)
{
	void *made = xcalloc(1, fields->size);
	fields_read(section, fields, made);
	if (section->reader->failed) {
		fields_free(fields, made);
		return NULL;
	}
	*(struct json_object **)member_of(made, fields->unknown) = json_object_get(section->object);
	return made;
}

/* A struct inside, or one that the field points to. */
static void read_struct(const struct manifest_section *section, const struct field *field,
			void *owner)
{
	void *member = member_of(owner, field->offset);
	char name[NAME_MAX_LENGTH];
	snprintf(name, sizeof(name), "%s%s.", section->name, field->key);
	const struct manifest_section inside = manifest_section(section, field->key, name);
	if (!inside.object)
		return;
	if (field->type == FIELD_STRUCT)
		fields_read(&inside, field->fields, member);
	else
		*(void **)member = make(&inside, field->fields);
}

static void read_list(const struct manifest_section *section, const struct field *field,
		      void *owner)
{
	const size_t size = field->fields->size;
	struct json_object *array = manifest_member(section, field->key, json_type_array);
	const size_t count = array ? json_object_array_length(array) : 0;
	char name[NAME_MAX_LENGTH];
	snprintf(name, sizeof(name), "%s%s[].", section->name, field->key);
	*items_of(field, owner) = count ? xcalloc(count, size) : NULL;
	*count_of(field, owner) = count;
	for (size_t i = 0; i < count; i++) {
		const struct manifest_section item = { section->reader, name,
						       json_object_array_get_idx(array, i) };
		if (json_object_is_type(item.object, json_type_object))
			fields_read(&item, field->fields, *items_of(field, owner) + i * size);
		else
			manifest_fail(section, field->key, "holds something that is not an object");
	}
}

static void read_field(const struct manifest_section *section, const struct field *field,
		       void *owner)
{
	switch (field->type) {
	case FIELD_TEXT:
		read_text(section, field, owner);
		break;
	case FIELD_TEXTS:
		read_texts(section, field, owner);
		break;
	case FIELD_STRUCT:
	case FIELD_POINTER:
		read_struct(section, field, owner);
		break;
	case FIELD_LIST:
		read_list(section, field, owner);
		break;
	default:
		read_number(section, field, owner);
		break;
	}
}

void fields_read(const struct manifest_section *section, const struct fields *fields, void *ret)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		if (!field->key || (field->needed && !manifest_require(section, field->key)))
			continue;
		if (field->read)
			field->read(section, field->key, ret);
		else
			read_field(section, field, ret);
	}
	if (fields->check)
		fields->check(section, ret);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_number(struct json_object *object, const struct field *field, const void *owner)
{
	const int64_t number = field_number(field, owner);
	char time[CLOCK_TEXT_SIZE];
	if (field->words)
		json_set_string(object, field->key, field->words[number]);
	else if (field->type == FIELD_FLAG)
		json_set_bool(object, field->key, number != 0);
	else if (field->type == FIELD_TIME)
		json_set_string(object, field->key, clock_format(number, time));
	else
		json_set_int(object, field->key, number);
}

/* Has the object the values of the fields that identify the struct? */
static bool is_same(struct json_object *object, const struct fields *fields, const void *source)
{
	cleanup_json struct json_object *now = manifest_copy(NULL);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		const struct fields alone = { .fields = field, .count = 1 };
		if (!field->identifies)
			continue;
		fields_put(now, &alone, source);
		if (!json_object_equal(json_object_object_get(object, field->key),
				       json_object_object_get(now, field->key)))
			return false;
	}
	return true;
}

static void put_struct(struct json_object *object, const struct field *field, const void *owner)
{
	const void *source = member_of(owner, field->offset);
	if (!is_same(json_get_object(object, field->key), field->fields, source))
		json_object_object_del(object, field->key);
	struct json_object *inside = json_make_object(object, field->key);
	fields_put(inside, field->fields, source);
	if (!json_object_object_length(inside))
		json_object_object_del(object, field->key);
}

/* The object that an item was read from, at its place or behind that: items before it may have
 * gone.  NULL: there is none. */
static struct json_object *find_item(const struct json_object *old, size_t from,
				     const struct fields *fields, const void *source)
{
	const size_t count = old ? json_object_array_length(old) : 0;
	for (size_t i = from; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(old, i);
		if (is_same(item, fields, source))
			return item;
	}
	return NULL;
}

/* An item that is recognised keeps the unknown keys of its object. */
static void put_list(struct json_object *object, const struct field *field, const void *owner)
{
	const struct json_object *old = json_get_array(object, field->key);
	struct json_object *array = json_object_new_array();
	if (!array)
		abort();
	for (size_t i = 0; i < *count_of(field, owner); i++) {
		const void *source = *items_of(field, owner) + i * field->fields->size;
		struct json_object *item = json_object_get(
			find_item(old, i, field->fields, source));
		item = item ? item : manifest_copy(NULL);
		fields_put(item, field->fields, source);
		if (json_object_array_add(array, item) < 0)
			abort();
	}
	json_set(object, field->key, array);
}

static void put_field(struct json_object *object, const struct field *field, const void *owner)
{
	if (field->other && field_number(field, owner) == (int64_t)field->other)
		return;
	if (!has_value(field, owner) && !field->always) {
		json_object_object_del(object, field->key);
		return;
	}
	switch (field->type) {
	case FIELD_TEXT:
		manifest_put_text(object, field->key, field_text(field, owner));
		break;
	case FIELD_TEXTS:
		manifest_put_texts(object, field->key, texts_of(field, owner));
		break;
	case FIELD_STRUCT:
		put_struct(object, field, owner);
		break;
	case FIELD_POINTER:
		json_set(object, field->key,
			 fields_to_json(field->fields, pointer_of(field, owner)));
		break;
	case FIELD_LIST:
		put_list(object, field, owner);
		break;
	default:
		put_number(object, field, owner);
		break;
	}
}

void fields_put(struct json_object *object, const struct fields *fields, const void *source)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		if (field->put)
			field->put(object, field->key, source);
		else if (field->key)
			put_field(object, field, source);
	}
}

/* ---- copying and freeing --------------------------------------------------------------------- */

static void copy_list(const struct field *field, void *target)
{
	const size_t size = field->fields->size, count = *count_of(field, target);
	const char *borrowed = *items_of(field, target);
	char *own = count ? xcalloc(count, size) : NULL;
	for (size_t i = 0; i < count; i++)
		fields_copy(field->fields, borrowed + i * size, own + i * size);
	*items_of(field, target) = own;
}

/* Gives a copy of the struct its own texts and lists. */
static void make_own(const struct fields *fields, void *target)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		if (field->type == FIELD_TEXT) {
			field_set_text(field, target, xstrdup_or_null(field_text(field, target)));
		} else if (field->type == FIELD_TEXTS) {
			const struct strvec borrowed = *texts_of(field, target);
			*texts_of(field, target) = (struct strvec){ 0 };
			strvec_push_all(texts_of(field, target), &borrowed);
		} else if (field->type == FIELD_STRUCT) {
			make_own(field->fields, member_of(target, field->offset));
		} else if (field->type == FIELD_POINTER) {
			*(void **)member_of(target, field->offset) = fields_duplicate(
				field->fields, pointer_of(field, target));
		} else if (field->type == FIELD_LIST) {
			copy_list(field, target);
		}
	}
	if (fields->unknown)
		json_object_get(*(struct json_object **)member_of(target, fields->unknown));
}

void fields_copy(const struct fields *fields, const void *source, void *ret)
{
	memcpy(ret, source, fields->size);
	make_own(fields, ret);
}

static void free_owned(const struct fields *fields, void *target)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->fields[i];
		if (field->type == FIELD_TEXT) {
			free(field_text(field, target));
		} else if (field->type == FIELD_TEXTS) {
			strvec_clear(texts_of(field, target));
		} else if (field->type == FIELD_STRUCT) {
			free_owned(field->fields, member_of(target, field->offset));
		} else if (field->type == FIELD_POINTER) {
			fields_free(field->fields, pointer_of(field, target));
		} else if (field->type == FIELD_LIST) {
			for (size_t j = 0; j < *count_of(field, target); j++)
				free_owned(field->fields,
					   *items_of(field, target) + j * field->fields->size);
			free(*items_of(field, target));
		}
	}
	if (fields->unknown)
		json_object_put(*(struct json_object **)member_of(target, fields->unknown));
}

void fields_clear(const struct fields *fields, void *target)
{
	free_owned(fields, target);
	memset(target, 0, fields->size);
}

void *fields_duplicate(const struct fields *fields, const void *source)
{
	if (!source)
		return NULL;
	void *copy = xcalloc(1, fields->size);
	fields_copy(fields, source, copy);
	return copy;
}

void fields_free(const struct fields *fields, void *target)
{
	if (!target)
		return;
	free_owned(fields, target);
	free(target);
}

void *fields_parse(struct json_object *object, const char *what, const char *name,
		   const struct fields *fields, struct error *err)
{
	struct manifest_reader reader = { .what = what, .err = err };
	const struct manifest_section section = { &reader, name, object };
	if (json_object_is_type(object, json_type_object))
		return make(&section, fields);
	error_set(err, ERROR_CORRUPT, "%s: is not a JSON object", what);
	return NULL;
}

struct json_object *fields_to_json(const struct fields *fields, const void *source)
{
	struct json_object **unknown = member_of(source, fields->unknown);
	struct json_object *object = manifest_copy(*unknown);
	fields_put(object, fields, source);
	return object;
}
