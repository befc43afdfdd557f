/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What each reader of a part of a file needs: findings, and values.
 */
#include "model/role/role-internal.h"

#include "base/jsonedit.h"

#include <string.h>

/* ---- findings -------------------------------------------------------------------------------- */

static unsigned line_of(const struct reading *reading)
{
	struct json_place place;
	unsigned line = 1;
	if (!json_find(reading->text, reading->length, &reading->path, &place))
		return 0;
	for (size_t i = 0; i < place.start; i++)
		line += reading->text[i] == '\n';
	return line;
}

/* Takes the text. */
static void push_finding(struct reading *reading, enum role_verdict verdict, char *text)
{
	struct role *role = reading->role;
	cleanup_free char *key = strvec_join(&reading->path, ".");
	role->findings = xreallocarray(role->findings, role->count + 1, sizeof(*role->findings));
	role->findings[role->count++] = (struct role_finding){
		.verdict = verdict, .key = visible(key), .line = line_of(reading), .text = text
	};
	if (verdict > ROLE_NOTE && verdict > role->verdict)
		role->verdict = verdict;
}

/* Each one costs a look through the whole file. */
void role_find(struct reading *reading, enum role_verdict verdict, const char *format, ...)
{
	va_list args;
	if (reading->role->count == ROLE_MAX_FINDINGS)
		return;
	if (reading->role->count + 1 == ROLE_MAX_FINDINGS) {
		push_finding(reading, ROLE_REFUSED,
			     xstrdup("more remarks than a person reads: the rest of the file was "
				     "not judged"));
		return;
	}
	va_start(args, format);
	cleanup_free char *text = xvasprintf(format, args);
	va_end(args);
	push_finding(reading, verdict, visible(text));
}

void role_enter(struct reading *reading, const char *key)
{
	strvec_push(&reading->path, key);
}

void role_enter_index(struct reading *reading, size_t index)
{
	strvec_pushf(&reading->path, "%zu", index);
}

void role_leave(struct reading *reading)
{
	free(reading->path.items[--reading->path.count]);
	reading->path.items[reading->path.count] = NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

char *role_text(struct reading *reading, struct json_object *value, enum role_verdict verdict)
{
	cleanup_free char *unknown = NULL;
	const char *text = json_object_get_string(value);
	if (!json_object_is_type(value, json_type_string) ||
	    strlen(text) != (size_t)json_object_get_string_len(value)) {
		role_find(reading, ROLE_REFUSED, "this must be a text");
		return NULL;
	}
	char *expanded = role_expand(reading, text, &unknown);
	if (!expanded)
		role_find(reading, verdict,
			  "left out, since ${%s} has no value here, or a long one: a variable of "
			  "yours counts when [container] role_env names it",
			  unknown);
	return expanded;
}

bool role_texts(struct reading *reading, struct json_object *value, struct strvec *ret)
{
	const size_t count = json_object_array_length(value);
	bool are_texts = true;
	for (size_t i = 0; i < count; i++) {
		role_enter_index(reading, i);
		char *text = role_text(reading, json_object_array_get_idx(value, i), ROLE_REFUSED);
		role_leave(reading);
		are_texts &= text != NULL;
		if (text)
			strvec_push_take(ret, text);
	}
	return are_texts;
}

void role_set_variable(struct reading *reading, const char *name, const char *value)
{
	struct strvec *all = &reading->role->environment;
	const size_t length = strlen(name);
	if (!recipe_is_variable(name) || streq(name, "HOME") || starts_with(name, "AGENTDECK_")) {
		role_find(reading, ROLE_NOTE, "left out: a role cannot set the variable %s", name);
		return;
	}
	for (size_t i = 0; i < all->count; i++) {
		if (strncmp(all->items[i], name, length) != 0 || all->items[i][length] != '=')
			continue;
		free(all->items[i]);
		all->items[i] = xasprintf("%s=%s", name, value);
		return;
	}
	strvec_pushf(all, "%s=%s", name, value);
}
