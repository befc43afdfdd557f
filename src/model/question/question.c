/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/question/question.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const char *const kind_words[CHOICE_COUNT] = {
	[CHOICE_NONE] = "none",     [CHOICE_CONTINUE] = "continue", [CHOICE_RETURN] = "return",
	[CHOICE_KEEP] = "keep",     [CHOICE_CLEAN] = "clean",       [CHOICE_NEW] = "new",
	[CHOICE_RESUME] = "resume", [CHOICE_ATTACH] = "attach",     [CHOICE_FORK] = "fork",
	[CHOICE_TAKE] = "take",
};

const char *choice_kind_name(enum choice_kind kind)
{
	assert((size_t)kind < CHOICE_COUNT);
	return kind_words[kind];
}

/* ---- making ---------------------------------------------------------------------------------- */

void question_begin(struct question *question, const char *title, const char *prompt)
{
	question_free(question);
	question->title = visible(title);
	question->prompt = visible(prompt);
}

PRINTF_LIKE(1, 0)
static char *format_visible(const char *format, va_list args)
{
	cleanup_free char *text = xvasprintf(format, args);
	return visible(text);
}

void question_add_line(struct question *question, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strvec_push_take(&question->lines, format_visible(format, args));
	va_end(args);
}

void question_add_evidence(struct question *question, const char *heading)
{
	const size_t count = question->evidence_count++;
	question->evidence = xreallocarray(question->evidence, count + 1,
					   sizeof(*question->evidence));
	question->evidence[count] = (struct evidence){ .heading = visible(heading) };
}

void question_add_item(struct question *question, const char *format, ...)
{
	va_list args;
	assert(question->evidence_count);
	va_start(args, format);
	strvec_push_take(&question->evidence[question->evidence_count - 1].items,
			 format_visible(format, args));
	va_end(args);
}

static const char *heading_of(enum finding_kind kind)
{
	switch (kind) {
	case FINDING_FILE:
		return "uncommitted";
	case FINDING_BRANCH:
		return "unpushed";
	case FINDING_STASH:
		return "stashed";
	case FINDING_STATE:
		return "in progress";
	case FINDING_DETACHED:
		return "on no branch";
	case FINDING_REF:
		return "tags and other refs";
	case FINDING_REFLOG:
		return "only in the log";
	case FINDING_CONTENT:
		return "large files";
	default:
		return "not known";
	}
}

/* The finding's texts are visible() already. */
static char *item_of(const struct finding *finding)
{
	const bool both = *finding->name && *finding->detail;
	return xasprintf("%s%s%s%s%s%s", *finding->where ? "in " : "", finding->where,
			 *finding->where ? ": " : "", finding->name, both ? ": " : "",
			 finding->detail);
}

static void add_losses_of(struct question *question, const struct verdict *verdict,
			  enum finding_kind kind)
{
	bool is_begun = false;
	for (size_t i = 0; i < verdict->count; i++) {
		if (verdict->findings[i].kind != kind)
			continue;
		if (!is_begun)
			question_add_evidence(question, heading_of(kind));
		is_begun = true;
		struct evidence *evidence = &question->evidence[question->evidence_count - 1];
		strvec_push_take(&evidence->items, item_of(&verdict->findings[i]));
		evidence->more = verdict->more[kind];
	}
}

void question_add_losses(struct question *question, const struct verdict *verdict)
{
	static const enum finding_kind order[] = {
		FINDING_FILE,     FINDING_BRANCH, FINDING_STASH,   FINDING_STATE,   FINDING_REF,
		FINDING_DETACHED, FINDING_REFLOG, FINDING_CONTENT, FINDING_UNKNOWN,
	};
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		add_losses_of(question, verdict, order[i]);
}

void question_add_choice(struct question *question, enum choice_kind kind, const char *label,
			 const char *effect)
{
	const size_t count = question->choice_count++;
	assert(count || kind != CHOICE_CLEAN);
	question->choices = xreallocarray(question->choices, count + 1, sizeof(*question->choices));
	question->choices[count] = (struct choice){
		.kind = kind,
		.label = visible(label),
		.effect = visible(effect),
		.loses = kind == CHOICE_CLEAN,
	};
}

void question_add_session(struct question *question, const char *id, const char *label,
			  const char *effect)
{
	question_add_choice(question, CHOICE_RESUME, label, effect);
	question->choices[question->choice_count - 1].session = xstrdup(id);
}

void question_free(struct question *question)
{
	free(question->title);
	free(question->prompt);
	strvec_clear(&question->lines);
	for (size_t i = 0; i < question->evidence_count; i++) {
		free(question->evidence[i].heading);
		strvec_clear(&question->evidence[i].items);
	}
	free(question->evidence);
	for (size_t i = 0; i < question->choice_count; i++) {
		free(question->choices[i].label);
		free(question->choices[i].effect);
		free(question->choices[i].session);
	}
	free(question->choices);
	*question = (struct question){ 0 };
}

/* ---- as text --------------------------------------------------------------------------------- */

static void add_evidence_text(const struct evidence *evidence, struct strbuf *buf)
{
	const int64_t count = (int64_t)evidence->items.count + evidence->more;
	strbuf_addf(buf, "  %s (%" PRId64 ")\n", evidence->heading, count);
	for (size_t i = 0; i < evidence->items.count; i++)
		strbuf_addf(buf, "    %s\n", evidence->items.items[i]);
	if (evidence->more)
		strbuf_addf(buf, "    and %" PRId64 " more\n", evidence->more);
}

static void add_choices_text(const struct question *question, struct strbuf *buf)
{
	for (size_t i = 0; question->choice_count > 1 && i < question->choice_count; i++) {
		const struct choice *choice = &question->choices[i];
		strbuf_addf(buf, "  %2zu  %s%s%s\n", i + 1, choice->label,
			    *choice->effect ? " - " : "", choice->effect);
	}
}

void question_add_text(const struct question *question, struct strbuf *buf)
{
	strbuf_addf(buf, "%s\n\n", question->title);
	for (size_t i = 0; i < question->lines.count; i++)
		strbuf_addf(buf, "%s\n", question->lines.items[i]);
	for (size_t i = 0; i < question->evidence_count; i++)
		add_evidence_text(&question->evidence[i], buf);
	strbuf_addf(buf, "\n%s\n", question->prompt);
	add_choices_text(question, buf);
}

const struct choice *question_parse(const struct question *question, const char *typed)
{
	const struct choice *found = NULL;
	int64_t number;
	typed += strspn(typed, " \t");
	size_t length = strlen(typed);
	while (length && strchr(" \t", typed[length - 1]))
		length--;
	cleanup_free char *word = xstrndup(typed, length);
	if (!length)
		return question->choices;
	if (parse_int64(word, 1, (int64_t)question->choice_count, &number))
		return &question->choices[number - 1];
	for (size_t i = 0; i < question->choice_count; i++) {
		if (strncasecmp(question->choices[i].label, word, length) != 0)
			continue;
		if (found)
			return NULL;
		found = &question->choices[i];
	}
	return found;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static struct json_object *evidence_to_json(const struct evidence *evidence)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "heading", evidence->heading);
	json_set_strings(object, "items", &evidence->items);
	json_set_int(object, "more", evidence->more);
	return object;
}

static struct json_object *choice_to_json(const struct choice *choice)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "kind", choice_kind_name(choice->kind));
	json_set_string(object, "label", choice->label);
	json_set_string(object, "effect", choice->effect);
	json_set_string(object, "session", choice->session);
	json_set_bool(object, "loses", choice->loses);
	return object;
}

struct json_object *question_to_json(const struct question *question)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "title", question->title);
	json_set_strings(object, "lines", &question->lines);
	struct json_object *evidence = json_object_new_array();
	for (size_t i = 0; i < question->evidence_count; i++)
		json_object_array_add(evidence, evidence_to_json(&question->evidence[i]));
	json_set(object, "evidence", evidence);
	json_set_string(object, "prompt", question->prompt);
	struct json_object *choices = json_object_new_array();
	for (size_t i = 0; i < question->choice_count; i++)
		json_object_array_add(choices, choice_to_json(&question->choices[i]));
	json_set(object, "choices", choices);
	return object;
}

static void add_evidence_of(struct question *question, struct json_object *object)
{
	cleanup_strvec struct strvec items = { 0 };
	question_add_evidence(question, json_get_string(object, "heading", ""));
	json_get_strings(object, "items", &items);
	for (size_t i = 0; i < items.count; i++)
		question_add_item(question, "%s", items.items[i]);
	question->evidence[question->evidence_count - 1].more = json_get_int(object, "more", 0);
}

static int add_choice_of(struct question *question, struct json_object *object, struct error *err)
{
	const char *word = json_get_string(object, "kind", "");
	size_t kind = CHOICE_NONE + 1;
	while (kind < CHOICE_COUNT && !streq(kind_words[kind], word))
		kind++;
	if (kind == CHOICE_COUNT || (kind == CHOICE_CLEAN && question->choice_count == 0))
		return error_set(err, ERROR_CORRUPT, "a question with a choice that cannot be");
	question_add_choice(question, (enum choice_kind)kind, json_get_string(object, "label", ""),
			    json_get_string(object, "effect", ""));
	question->choices[question->choice_count - 1].session = xstrdup_or_null(
		json_get_string(object, "session", NULL));
	return 0;
}

int question_from_json(struct json_object *object, struct question *ret, struct error *err)
{
	cleanup_question struct question question = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	struct json_object *evidence = json_get_array(object, "evidence");
	struct json_object *choices = json_get_array(object, "choices");
	question_begin(&question, json_get_string(object, "title", ""),
		       json_get_string(object, "prompt", ""));
	json_get_strings(object, "lines", &lines);
	for (size_t i = 0; i < lines.count; i++)
		question_add_line(&question, "%s", lines.items[i]);
	for (size_t i = 0; evidence && i < json_object_array_length(evidence); i++)
		add_evidence_of(&question, json_object_array_get_idx(evidence, i));
	for (size_t i = 0; choices && i < json_object_array_length(choices); i++)
		if (add_choice_of(&question, json_object_array_get_idx(choices, i), err) < 0)
			return -1;
	if (question.choice_count == 0)
		return error_set(err, ERROR_CORRUPT, "a question without a choice");
	*ret = question;
	question = (struct question){ 0 };
	return 0;
}
