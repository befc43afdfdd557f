/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/texts.h"

#include <string.h>

char *command_description(const struct command *command)
{
	cleanup_free char *heading = xasprintf("\n\n[%s]\n", command->name);
	const char *text = strstr(text_commands, heading);
	if (!text)
		return xstrdup("");
	text += strlen(heading);
	const char *next = strstr(text, "\n\n[");
	return xstrndup(text, next ? (size_t)(next - text) : strlen(text) - 1);
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
