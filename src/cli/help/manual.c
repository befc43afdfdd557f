/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manual pages in the man(7) language: the command table between the texts of data/texts/.
 */
#include "cli/help/help.h"

#include "base/version.h"
#include "cli/help/texts.h"

#include <ctype.h>
#include <string.h>

enum { LINE = 72 };

/* Some characters need an escape, since groff replaces them by typographic ones. */
static const char *escape(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '`':
		return "\\(ga";
	case '~':
		return "\\(ti";
	case '^':
		return "\\(ha";
	case '"':
		return "\\(dq";
	default:
		return NULL;
	}
}

static void put_word(FILE *out, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const char *text = escape(word[i]);
		if (text)
			fputs(text, out);
		else
			fputc(word[i], out);
	}
}

/* Fold the text into lines of roff. */
static void put_text(FILE *out, const char *text)
{
	for (size_t column = 0; *text;) {
		size_t length = strcspn(text, " \n");
		if (column && column + 1 + length > LINE) {
			fputc('\n', out);
			column = 0;
		}
		if (column)
			fputc(' ', out);
		else if (*text == '.')
			fputs("\\&", out); /* not a request */
		put_word(out, text, length);
		column += 1 + length;
		text += length;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

static void put_sentence(FILE *out, const char *text)
{
	cleanup_free char *sentence = xasprintf("%c%s.", toupper((unsigned char)*text), text + 1);
	put_text(out, sentence);
}

/* Spaces that every line begins with. */
static size_t common_indent(const char *text)
{
	size_t least = strspn(text, " ");
	for (const char *line = text; (line = strchr(line, '\n')); line++) {
		size_t indent = strspn(line + 1, " ");
		if (indent < least)
			least = indent;
	}
	return least;
}

static void put_as_is(FILE *out, const char *text)
{
	size_t indent = common_indent(text);
	fputs(".RS 4\n.nf\n", out);
	while (*text) {
		size_t length = strcspn(text, "\n");
		put_word(out, text + indent, length - indent);
		fputc('\n', out);
		text += length;
		text += strspn(text, "\n");
	}
	fputs(".fi\n.RE\n", out);
}

static void put_description(FILE *out, const struct command *command)
{
	cleanup_free char *description = command_description(command);
	const char *text = description;
	bool as_is;
	put_sentence(out, command->summary);
	for (char *paragraph; (paragraph = next_paragraph(&text, &as_is)); free(paragraph)) {
		fputs(".PP\n", out);
		if (as_is)
			put_as_is(out, paragraph);
		else
			put_text(out, paragraph);
	}
}

static void put_options(FILE *out, const struct command_option *options)
{
	for (; options && options->name; options++) {
		if (options->is_hidden)
			continue;
		fputs(".TP\n", out);
		if (options->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", options->letter);
		fputs("\\fB\\-\\-", out);
		put_word(out, options->name, strlen(options->name));
		fputs("\\fR", out);
		if (options->argument)
			fprintf(out, "%s\\fI%s\\fR", *options->argument == '[' ? "" : " ",
				options->argument);
		fputc('\n', out);
		put_sentence(out, options->help);
	}
}

/* The user replaces words in capitals. */
static void put_operands(FILE *out, const char *text)
{
	while (*text) {
		size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (length) {
			fprintf(out, "\\fI%.*s\\fR", (int)length, text);
		} else {
			length = strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
			put_word(out, text, length);
		}
		text += length;
	}
}

static void put_synopsis(FILE *out, const char *name, const struct command *command)
{
	fprintf(out, "\\fBagentdeck %s\\fR", name);
	if (command->options || command->flags & HAS_JSON)
		fputs(" [\\fIOPTION\\fR...]", out);
	if (*command->arguments)
		fputc(' ', out);
	put_operands(out, command->arguments);
	fputc('\n', out);
}

/* The lines of use, with the short forms. */
static void put_usage(FILE *out, const struct command *command)
{
	const char *form;
	put_synopsis(out, command->name, command);
	for (size_t i = 0; (form = command_short_form(command, i)); i++) {
		fputs(".br\n", out);
		put_synopsis(out, form, command);
	}
}

static void put_command(FILE *out, const struct command *command)
{
	fprintf(out, ".SS \"%s\"\n", command->name);
	put_usage(out, command);
	fputs(".PP\n", out);
	put_description(out, command);
	put_options(out, command->options);
	put_options(out, command_json_options(command));
}

static void put_commands(FILE *out, const struct command *command UNUSED)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->kind != COMMAND_INTERNAL)
			put_command(out, commands[i]);
}

static void put_globals(FILE *out, const struct command *command UNUSED)
{
	put_options(out, global_options);
}

static void put_version(FILE *out, const struct command *command UNUSED)
{
	fputs(agentdeck_version, out);
}

/* The name of a command's page, with a dash where the command has a space. */
static char *page_name(const struct command *command)
{
	char *name = xasprintf("agentdeck-%s", command->name);
	for (char *space = name; (space = strchr(space, ' '));)
		*space = '-';
	return name;
}

static void put_title(FILE *out, const struct command *command)
{
	cleanup_free char *name = page_name(command);
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), out);
}

static void put_name(FILE *out, const struct command *command)
{
	cleanup_free char *name = page_name(command);
	put_word(out, name, strlen(name));
}

static void put_summary(FILE *out, const struct command *command)
{
	put_word(out, command->summary, strlen(command->summary));
}

static void put_examples(FILE *out, const struct command *command)
{
	cleanup_free char *examples = command_examples(command);
	const char *rest = examples;
	char *line, *text;
	while (next_example(&rest, &line, &text)) {
		fputs(".TP\n\\fB", out);
		put_word(out, line, strlen(line));
		fputs("\\fR\n", out);
		put_sentence(out, text);
		free(line);
		free(text);
	}
}

static void put_all_options(FILE *out, const struct command *command)
{
	fputs(".SH OPTIONS\n", out);
	put_options(out, command->options);
	put_options(out, command_json_options(command));
	put_options(out, common_options);
}

void print_manual(FILE *out)
{
	static const struct text_part parts[] = {
		{ "VERSION", put_version },
		{ "OPTIONS", put_globals },
		{ "COMMANDS", put_commands },
		{ 0 },
	};
	print_text(out, text_manual, parts, NULL);
}

void print_command_manual(FILE *out, const struct command *command)
{
	static const struct text_part parts[] = {
		{ "TITLE", put_title },
		{ "VERSION", put_version },
		{ "NAME", put_name },
		{ "SUMMARY", put_summary },
		{ "USAGE", put_usage },
		{ "DESCRIPTION", put_description },
		{ "OPTIONS", put_all_options },
		{ "EXAMPLES", put_examples },
		{ 0 },
	};
	print_text(out, text_command_manual, parts, command);
}
