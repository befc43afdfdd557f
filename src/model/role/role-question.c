/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a role asks its user for: which questions make sense, and in which order they are asked.
 */
#include "model/role/role-internal.h"

bool role_is_reference(const char *text)
{
	return starts_with(text, "env:") || starts_with(text, "file:") ||
	       starts_with(text, "command:");
}

/* A reference of a role would read the user's files and run a command on this machine. */
static void check(struct reading *reading, const struct role_question *question)
{
	bool is_option = !question->otherwise || !question->options.count;
	bool has_reference = question->otherwise && role_is_reference(question->otherwise);
	for (size_t i = 0; i < question->options.count; i++) {
		is_option |= question->otherwise &&
			     streq(question->options.items[i], question->otherwise);
		has_reference |= role_is_reference(question->options.items[i]);
	}
	if (!is_option)
		role_find(reading, ROLE_REFUSED, "its default is none of its options");
	if (has_reference)
		role_find(
			reading, ROLE_REFUSED,
			"only you can say where a secret is: it cannot be a default or an option");
	if (question->is_secret && (question->otherwise || question->options.count))
		role_find(reading, ROLE_REFUSED, "a secret has no default and no options");
}

/* Have all that it depends on been asked before? */
static bool is_due(const struct role *role, const struct role_question *question, size_t asked)
{
	size_t found = 0;
	for (size_t i = 0; i < asked; i++)
		found += strvec_contains(&question->after, role->questions[i].name);
	return found == question->after.count;
}

static void swap(struct role_question *one, struct role_question *other)
{
	const struct role_question kept = *one;
	*one = *other;
	*other = kept;
}

void role_settle_questions(struct reading *reading)
{
	struct role *role = reading->role;
	for (size_t i = 0; i < role->question_count; i++) {
		role_enter(reading, role->questions[i].name);
		check(reading, &role->questions[i]);
		role_leave(reading);
	}
	for (size_t i = 0; i < role->question_count; i++) {
		size_t next = i;
		while (next < role->question_count && !is_due(role, &role->questions[next], i))
			next++;
		if (next == role->question_count) {
			role_find(reading, ROLE_REFUSED,
				  "depends_on of %s leads to itself, or to no name in env",
				  role->questions[i].name);
			return;
		}
		/* The others keep their order. */
		for (; next > i; next--)
			swap(&role->questions[next], &role->questions[next - 1]);
	}
}
