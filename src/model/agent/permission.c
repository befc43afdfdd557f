/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/permission.h"

#include <regex.h>
#include <string.h>

void permission_free(struct permission *permission)
{
	free(permission->text);
	*permission = (struct permission){ 0 };
}

bool permission_is_known(const struct agent *agent)
{
	return agent->permission.count && agent->approve_keys.count && agent->deny_keys.count;
}

/* The registry has checked that the patterns compile; one that does not matches nothing. */
static bool fits(const struct strvec *patterns, const char *line)
{
	bool found = false;
	for (size_t i = 0; i < patterns->count && !found; i++) {
		regex_t pattern;
		if (regcomp(&pattern, patterns->items[i], REG_EXTENDED | REG_NOSUB) != 0)
			continue;
		found = regexec(&pattern, line, 0, NULL, 0) == 0;
		regfree(&pattern);
	}
	return found;
}

/* The lines of the screen, without blanks at their ends, and without empty lines below. */
static void split(const char *screen, struct strvec *ret)
{
	while (*screen) {
		const size_t length = strcspn(screen, "\n");
		size_t used = length;
		while (used && screen[used - 1] == ' ')
			used--;
		strvec_push_take(ret, xstrndup(screen, used));
		screen += length + (screen[length] == '\n');
	}
	while (ret->count && !*ret->items[ret->count - 1])
		free(ret->items[--ret->count]);
}

/* Write a blank over the mark that begins a line. */
static void remove_mark(const struct agent *agent, char *line)
{
	char *start = line + strspn(line, " ");
	const size_t length = strlen(or_empty(agent->permission_mark));
	if (!length || strncmp(start, agent->permission_mark, length) != 0)
		return;
	*start = ' ';
	memmove(start + 1, start + length, strlen(start + length) + 1);
}

/* Go up from the last line over the choices.  Returns the index of the first one, or 0. */
static size_t find_choices(const struct agent *agent, const struct strvec *lines)
{
	size_t i = lines->count - 1;
	while (i && !*lines->items[i - 1])
		i--;
	for (; i && !fits(&agent->permission, lines->items[i - 1]); i--) {
		char *line = lines->items[i - 1];
		remove_mark(agent, line);
		/* Between two choices there is only the rest of a long one. */
		if (*line != ' ')
			return 0;
	}
	/* The choice that gives the permission says that and no more. */
	return i && i + 1 < lines->count && fits(&agent->permission_approve, lines->items[i]) &&
			       fits(&agent->permission_choice, lines->items[i + 1])
		       ? i
		       : 0;
}

static void take(const struct strvec *lines, size_t first, struct permission *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = first; i < lines->count; i++)
		strbuf_addf(&text, "%s\n", lines->items[i]);
	ret->text = strbuf_take(&text);
	(void)sha256_text(ret->text, ret->digest);
}

enum permission_form permission_read(const struct agent *agent, const char *screen,
				     struct permission *ret)
{
	cleanup_strvec struct strvec lines = { 0 };
	split(screen, &lines);
	if (!permission_is_known(agent) || !lines.count ||
	    !fits(&agent->permission_below, lines.items[lines.count - 1]))
		return PERMISSION_NONE;
	const size_t choices = find_choices(agent, &lines);
	if (!choices)
		return PERMISSION_NONE;
	size_t above = choices - 1;
	while (above && !fits(&agent->permission_above, lines.items[above - 1]))
		above--;
	if (!above)
		return PERMISSION_CUT;
	if (!fits(&agent->permission_title, lines.items[above]))
		return PERMISSION_NONE;
	take(&lines, above, ret);
	return PERMISSION_WHOLE;
}
