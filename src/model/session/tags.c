/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/tags.h"

#include "base/jsonio.h"

#include <stdlib.h>
#include <string.h>

#define INSIDE "abcdefghijklmnopqrstuvwxyz0123456789-_."

/* A sign in front would be that of a change. */
static bool is_tag(const char *word)
{
	const size_t length = strlen(word);
	return length > 0 && length <= TAG_LENGTH_MOST && strspn(word, INSIDE) == length &&
	       !strchr("-_.", *word);
}

static void drop(struct strvec *words, const char *word)
{
	struct strvec kept = { 0 };
	for (size_t i = 0; i < words->count; i++)
		if (!streq(words->items[i], word))
			strvec_push(&kept, words->items[i]);
	strvec_clear(words);
	*words = kept;
}

static void add(struct strvec *words, const char *word)
{
	if (!strvec_contains(words, word))
		strvec_push(words, word);
}

static int by_word(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join(const struct strvec *words)
{
	if (!words->count)
		return NULL;
	qsort(words->items, words->count, sizeof(*words->items), by_word);
	return strvec_join(words, ",");
}

void tags_split(const char *tags, struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(or_empty(tags));
	char *rest = *copy ? copy : NULL;
	for (const char *word; (word = strsep(&rest, ","));)
		strvec_push(ret, word);
}

static int refuse(const char *word, struct error *err)
{
	cleanup_free char *shown = visible(word);
	return error_set(
		err, ERROR_USAGE,
		"'%s' is no tag: a tag has lower-case letters, digits and - _ . in it, "
		"at most %d, and begins with a letter or a digit; session set adds it with "
		"+TAG, and removes it with -TAG",
		shown, TAG_LENGTH_MOST);
}

int tags_change(const char *tags, const char *change, char **ret, struct error *err)
{
	const bool is_step = *change == '+' || *change == '-';
	cleanup_strvec struct strvec steps = { 0 }, words = { 0 };
	tags_split(change, &steps);
	if (is_step)
		tags_split(tags, &words);
	for (size_t i = 0; i < steps.count; i++) {
		const char *step = steps.items[i];
		const bool has_sign = *step == '+' || *step == '-';
		if (has_sign != is_step || !is_tag(step + has_sign))
			return refuse(step, err);
		if (*step == '-')
			drop(&words, step + 1);
		else
			add(&words, step + has_sign);
	}
	if (words.count > TAGS_MOST)
		return error_set(err, ERROR_USAGE, "a session has at most %d tags, not %zu",
				 TAGS_MOST, words.count);
	*ret = join(&words);
	return 0;
}

int tags_join(const struct strvec *words, char **ret, struct error *err)
{
	cleanup_strvec struct strvec tags = { 0 };
	for (size_t i = 0; i < words->count; i++) {
		cleanup_strvec struct strvec parts = { 0 };
		tags_split(words->items[i], &parts);
		if (!parts.count)
			return refuse("", err);
		for (size_t j = 0; j < parts.count; j++) {
			if (!is_tag(parts.items[j]))
				return refuse(parts.items[j], err);
			add(&tags, parts.items[j]);
		}
	}
	if (tags.count > TAGS_MOST)
		return error_set(err, ERROR_USAGE, "a session has at most %d tags, not %zu",
				 TAGS_MOST, tags.count);
	*ret = join(&tags);
	return 0;
}

bool tags_have(const char *tags, const char *wanted)
{
	cleanup_strvec struct strvec words = { 0 }, all = { 0 };
	tags_split(tags, &all);
	tags_split(wanted, &words);
	for (size_t i = 0; i < words.count; i++)
		if (!strvec_contains(&all, words.items[i]))
			return false;
	return true;
}

char *tags_from_json(const struct json_object *object, const char *key)
{
	cleanup_strvec struct strvec found = { 0 }, words = { 0 };
	json_get_strings(object, key, &found);
	for (size_t i = 0; i < found.count && words.count < TAGS_MOST; i++)
		if (is_tag(found.items[i]))
			add(&words, found.items[i]);
	return join(&words);
}

void tags_to_json(struct json_object *object, const char *key, const char *tags)
{
	cleanup_strvec struct strvec words = { 0 };
	tags_split(tags, &words);
	if (tags)
		json_set_strings(object, key, &words);
	else
		json_object_object_del(object, key);
}
