/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/question/questions.h"

#include <assert.h>
#include <string.h>

static const char *const about_words[ABOUT_COUNT] = {
	[ABOUT_NOTHING] = "nothing", [ABOUT_CONFIRM] = "confirm",   [ABOUT_END] = "end",
	[ABOUT_REUSE] = "reuse",     [ABOUT_LAUNCH] = "launch",     [ABOUT_REMOVAL] = "removal",
	[ABOUT_PRUNE] = "prune",     [ABOUT_CONFLICT] = "conflict",
};

void questions_free(struct questions *questions)
{
	for (size_t i = 0; i < questions->count; i++)
		question_free(&questions->items[i]);
	free(questions->id);
	free(questions->occasion);
	free(questions->seen);
	free(questions->text);
	*questions = (struct questions){ 0 };
}

struct question *questions_add(struct questions *questions, enum question_about about)
{
	assert(questions->count < QUESTIONS_MOST);
	questions->about = about;
	return &questions->items[questions->count++];
}

struct json_object *questions_to_json(const struct questions *questions)
{
	struct json_object *object = json_object_new_object();
	struct json_object *items = json_object_new_array();
	for (size_t i = 0; i < questions->count; i++)
		json_object_array_add(items, question_to_json(&questions->items[i]));
	json_set_string(object, "id", questions->id);
	json_set_string(object, "occasion", questions->occasion);
	json_set_string(object, "about", about_words[questions->about]);
	json_set(object, "questions", items);
	json_set_string(object, "seen", questions->seen);
	json_set_bool(object, "removed", questions->is_removed);
	json_set_string(object, "text", questions->text);
	return object;
}

static enum question_about about_of(const char *word)
{
	for (size_t i = 0; i < ABOUT_COUNT; i++)
		if (streq(about_words[i], word))
			return (enum question_about)i;
	return ABOUT_NOTHING;
}

static int add_items(struct json_object *object, struct questions *questions, struct error *err)
{
	const enum question_about about = about_of(json_get_string(object, "about", ""));
	struct json_object *items = json_get_array(object, "questions");
	const size_t count = items ? json_object_array_length(items) : 0;
	if (count > QUESTIONS_MOST || (count > 0) != (about != ABOUT_NOTHING))
		return error_set(err, ERROR_CORRUPT, "these are no questions of agentdeck");
	for (size_t i = 0; i < count; i++)
		if (question_from_json(json_object_array_get_idx(items, i),
				       questions_add(questions, about), err) < 0)
			return -1;
	return 0;
}

int questions_parse(const char *text, struct questions *ret, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_questions struct questions questions = { 0 };
	if (json_parse(text, strlen(text), "agentdeck settle", &object, err) < 0)
		return -1;
	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "these are no questions of agentdeck");
	questions.id = xstrdup(json_get_string(object, "id", ""));
	questions.occasion = xstrdup(json_get_string(object, "occasion", ""));
	questions.seen = xstrdup(json_get_string(object, "seen", ""));
	questions.text = xstrdup_or_null(json_get_string(object, "text", NULL));
	questions.is_removed = json_get_bool(object, "removed", false);
	if (add_items(object, &questions, err) < 0)
		return -1;
	*ret = questions;
	questions = (struct questions){ 0 };
	return 0;
}
