/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/texts.h"

#include <string.h>

/* The command's section of a text, or "".  The caller frees. */
static char *section(const char *all, const struct command *command)
{
	cleanup_free char *heading = xasprintf("\n\n[%s]\n", command->name);
	const char *text = strstr(all, heading);
	if (!text)
		return xstrdup("");
	text += strlen(heading);
	const char *next = strstr(text, "\n\n[");
	return xstrndup(text, next ? (size_t)(next - text) : strlen(text) - 1);
}

char *command_description(const struct command *command)
{
	return section(text_commands, command);
}

char *command_examples(const struct command *command)
{
	return section(text_examples, command);
}

static char *next_line(const char **text)
{
	const size_t length = strcspn(*text, "\n");
	char *line = xstrndup(*text, length);
	*text += length;
	*text += **text == '\n';
	return line;
}

bool next_example(const char **text, char **ret_line, char **ret_text)
{
	if (!**text)
		return false;
	*ret_line = next_line(text);
	*text += strspn(*text, " ");
	*ret_text = next_line(text);
	return true;
}

static const struct text_part *part_at(const char *at, const struct text_part *parts)
{
	for (; parts->name; parts++) {
		size_t length = strlen(parts->name);
		if (strncmp(at + 1, parts->name, length) == 0 && at[1 + length] == '@')
			return parts;
	}
	return NULL;
}

void print_text(FILE *out, const char *text, const struct text_part *parts,
		const struct command *command)
{
	const char *at = text;
	while (*at) {
		const struct text_part *part = *at == '@' ? part_at(at, parts) : NULL;
		if (!part) {
			fputc(*at++, out);
			continue;
		}
		const bool begins_line = at == text || at[-1] == '\n';
		part->print(out, command);
		at += strlen(part->name) + 2;
		if (begins_line && *at == '\n')
			at++;
	}
}
