/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/question.h"

#include <string.h>

#define KEY(member) .name = #member, .offset = offsetof(struct agent_question, member)
const struct agent_question_key agent_question_keys[] = {
	{ KEY(above), .is_pattern = true },
	{ KEY(title), .is_pattern = true, .is_needed = true },
	{ KEY(edge), .is_pattern = true },
	{ KEY(asks), .is_pattern = true },
	{ KEY(choice), .is_pattern = true, .is_needed = true },
	{ KEY(yes), .is_pattern = true, .group = "the key" },
	{ KEY(pick), .is_pattern = true, .group = "the key" },
	{ KEY(below), .is_pattern = true, .is_needed = true },
	{ KEY(after), .is_pattern = true },
	{ KEY(frame), .is_pattern = true, .group = "the content" },
	{ KEY(hidden), .is_pattern = true },
	{ KEY(change), .is_pattern = true, .group = "the file" },
	{ KEY(beside), .is_pattern = true },
	{ KEY(target), .is_pattern = true, .group = "the file" },
	{ KEY(preview) },
	{ KEY(mark) },
	{ KEY(deny), .is_needed = true },
};
const size_t agent_question_key_count = ARRAY_SIZE(agent_question_keys);

static char **slot_of(struct agent_question *question, const struct agent_question_key *key)
{
	return (char **)(void *)((char *)question + key->offset);
}

const char *agent_question_value(const struct agent_question *question,
				 const struct agent_question_key *key)
{
	return *(char *const *)(const void *)((const char *)question + key->offset);
}

static struct agent_question *find_or_add(struct agent_questions *questions, const char *name)
{
	for (size_t i = 0; i < questions->count; i++)
		if (streq(questions->items[i].name, name))
			return questions->items + i;
	questions->items = xreallocarray(questions->items, questions->count + 1,
					 sizeof(*questions->items));
	struct agent_question *added = questions->items + questions->count++;
	*added = (struct agent_question){ .name = xstrdup(name) };
	return added;
}

/* With "" an override removes the value of the built-in entry. */
static int store_value(const struct toml_document *document, struct agent_question *question,
		       const char *name, struct json_object *value, struct error *err)
{
	cleanup_free char *path = xasprintf("question.%s.%s", question->name, name);
	for (size_t i = 0; i < agent_question_key_count; i++) {
		if (!streq(agent_question_keys[i].name, name))
			continue;
		const struct toml_key key = { .path = path };
		char **slot = slot_of(question, agent_question_keys + i);
		if (toml_store_string(document, &key, value, slot, err) < 0)
			return -1;
		if (!**slot)
			replace_string(slot, NULL);
		return 0;
	}
	return toml_error(document, path, err, "unknown key \"%s\"", path);
}

int agent_questions_store(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, table) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		if (!json_object_is_type(table, json_type_object))
			return toml_type_error(document, path, table, "a table", err);
		struct agent_question *question = find_or_add(field, name);
		json_object_object_foreach(table, member, text) {
			if (store_value(document, question, member, text, err) < 0)
				return -1;
		}
	}
	return 0;
}

void agent_questions_clear(struct agent_questions *questions)
{
	for (size_t i = 0; i < questions->count; i++) {
		free(questions->items[i].name);
		for (size_t k = 0; k < agent_question_key_count; k++)
			free(*slot_of(questions->items + i, agent_question_keys + k));
	}
	free(questions->items);
	*questions = (struct agent_questions){ 0 };
}

void agent_questions_detach(struct agent_questions *questions)
{
	const struct agent_questions old = *questions;
	questions->items = xcalloc(old.count, sizeof(*old.items));
	for (size_t i = 0; i < old.count; i++) {
		questions->items[i].name = xstrdup(old.items[i].name);
		for (size_t k = 0; k < agent_question_key_count; k++)
			*slot_of(questions->items + i, agent_question_keys + k) = xstrdup_or_null(
				agent_question_value(old.items + i, agent_question_keys + k));
	}
}
