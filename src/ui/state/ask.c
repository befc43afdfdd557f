/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ask.h"

#include <string.h>

void ask_free(struct ask *ask)
{
	for (size_t i = 0; i < ask->count; i++)
		question_free(&ask->questions[i]);
	free(ask->id);
	free(ask->occasion);
	free(ask->seen);
	free(ask->text);
	*ask = (struct ask){ 0 };
}

static enum ask_about about_of(const char *word)
{
	return streq(word, "end")        ? ASK_END
	       : streq(word, "reuse")    ? ASK_REUSE
	       : streq(word, "launch")   ? ASK_LAUNCH
	       : streq(word, "removal")  ? ASK_REMOVAL
	       : streq(word, "prune")    ? ASK_PRUNE
	       : streq(word, "conflict") ? ASK_CONFLICT
					 : ASK_NOTHING;
}

static int parse_questions(struct json_object *object, struct ask *ask, struct error *err)
{
	struct json_object *questions = json_get_array(object, "questions");
	const size_t count = questions ? json_object_array_length(questions) : 0;
	if (count > ASK_MOST || (count > 0) != (ask->about != ASK_NOTHING))
		return error_set(err, ERROR_CORRUPT, "agentdeck settle says what cannot be");
	for (size_t i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(questions, i);
		if (question_from_json(one, &ask->questions[i], err) < 0)
			return -1;
		ask->count++;
	}
	return 0;
}

int ask_parse(const char *text, struct ask *ret, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_ask struct ask ask = { 0 };
	if (json_parse(text, strlen(text), "agentdeck settle", &object, err) < 0)
		return -1;
	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "agentdeck settle says what cannot be");
	ask.about = about_of(json_get_string(object, "about", ""));
	ask.id = xstrdup(json_get_string(object, "id", ""));
	ask.occasion = xstrdup(json_get_string(object, "occasion", ""));
	ask.seen = xstrdup(json_get_string(object, "seen", ""));
	ask.text = xstrdup_or_null(json_get_string(object, "text", NULL));
	ask.is_removed = json_get_bool(object, "removed", false);
	if (parse_questions(object, &ask, err) < 0)
		return -1;
	*ret = ask;
	ask = (struct ask){ 0 };
	return 0;
}
