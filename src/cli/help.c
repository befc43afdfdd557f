/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 80, WIDEST_TERM = 28 };

const struct command_option global_options[] = {
	{ 'p', "profile", "PROFILE", "work on this profile's sessions, instead of \"default\"" },
	{ 'v', "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print a summary of the commands" },
	{ 0 },
};

const struct command_option json_options[] = {
	{ 0, "json", NULL, "print JSON" },
	{ 0 },
};

const struct command_alias command_aliases[] = {
	{ "ls", "list" },
	{ "rm", "remove" },
	{ "mv", "rename" },
	{ "start", "session start" },
	{ "stop", "session stop" },
	{ "restart", "session restart" },
	{ "attach", "session attach" },
	{ "show", "session show" },
	{ "send", "session send" },
	{ "output", "session output" },
	{ 0 },
};

const struct command *command_named(const char *name)
{
	for (size_t i = 0; command_aliases[i].word; i++)
		if (streq(command_aliases[i].word, name))
			name = command_aliases[i].name;
	for (size_t i = 0; commands[i]; i++)
		if (streq(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static bool is_in_family(const struct command *command, const char *word)
{
	return starts_with(command->name, word) && command->name[strlen(word)] == ' ';
}

bool command_is_family(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (is_in_family(commands[i], word))
			return true;
	return false;
}

/* Words of text up to the right margin; further lines begin at indent.  column: where we are. */
static void print_folded(FILE *out, size_t column, size_t indent, const char *text)
{
	const char *space = "";
	while (*text) {
		size_t length = strcspn(text, " \n");
		if (column > indent && column + strlen(space) + length > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			space = "";
		}
		fprintf(out, "%s%.*s", space, (int)length, text);
		column += strlen(space) + length;
		text += length;
		text += strspn(text, " \n");
		space = " ";
	}
	fputc('\n', out);
}

char *next_paragraph(const char **text, bool *ret_as_is)
{
	if (!**text)
		return NULL;
	const char *end = strstr(*text, "\n\n");
	char *paragraph = end ? xstrndup(*text, (size_t)(end - *text)) : xstrdup(*text);
	*text += strlen(paragraph);
	*text += strspn(*text, "\n");
	*ret_as_is = *paragraph == ' ' || strstr(paragraph, "\n ");
	return paragraph;
}

static void print_paragraphs(FILE *out, const char *text)
{
	bool as_is;
	for (char *paragraph; (paragraph = next_paragraph(&text, &as_is)); free(paragraph)) {
		fputc('\n', out);
		if (as_is)
			fprintf(out, "%s\n", paragraph);
		else
			print_folded(out, 0, 0, paragraph);
	}
}

static char *option_term(const struct command_option *option)
{
	cleanup_free char *letter = option->letter ? xasprintf("-%c, ", option->letter)
						   : xstrdup("    ");
	return xasprintf("%s--%s%s%s", letter, option->name, option->argument ? " " : "",
			 or_empty(option->argument));
}

/* A term in a column of width, and what it means beside it. */
static void print_term(FILE *out, const char *term, size_t width, const char *text)
{
	size_t column = strlen(term) + 2;
	fprintf(out, "  %s", term);
	if (column > width + 2) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", (int)(width + 4 - column), "");
	print_folded(out, width + 4, width + 4, text);
}

static size_t term_width(const struct command_option *options, size_t width)
{
	for (size_t i = 0; options && options[i].name; i++) {
		cleanup_free char *term = option_term(&options[i]);
		size_t length = strlen(term);
		if (length > width && length <= WIDEST_TERM)
			width = length;
	}
	return width;
}

static void print_options(FILE *out, const struct command_option *options, size_t width)
{
	for (size_t i = 0; options && options[i].name; i++) {
		cleanup_free char *term = option_term(&options[i]);
		print_term(out, term, width, options[i].help);
	}
}

static void print_usage(FILE *out, const char *lead, const char *name,
			const struct command *command)
{
	fprintf(out, "%s agentdeck %s%s%s%s\n", lead, name,
		command->options || command->flags & HAS_JSON ? " [OPTION...]" : "",
		*command->arguments ? " " : "", command->arguments);
}

static void print_command(FILE *out, const struct command *command)
{
	static const struct command_option help[] = {
		{ 'h', "help", NULL, "print this help" },
		{ 0 },
	};
	size_t width = term_width(command->options, term_width(help, 0));

	print_usage(out, "Usage:", command->name, command);
	for (size_t i = 0; command_aliases[i].word; i++)
		if (streq(command_aliases[i].name, command->name))
			print_usage(out, "   or:", command_aliases[i].word, command);
	cleanup_free char *summary = xasprintf("%c%s.", toupper((unsigned char)command->summary[0]),
					       command->summary + 1);
	fputc('\n', out);
	print_folded(out, 0, 0, summary);
	print_paragraphs(out, command->description);
	fprintf(out, "\nOptions:\n");
	print_options(out, command->options, width);
	if (command->flags & HAS_JSON)
		print_options(out, json_options, width);
	print_options(out, help, width);
}

/* family: only its commands; NULL: all. */
static void print_commands(FILE *out, const char *family)
{
	size_t width = 0;
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->flags & IS_HIDDEN) && strlen(commands[i]->name) > width)
			width = strlen(commands[i]->name);
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->flags & IS_HIDDEN) && (!family || is_in_family(commands[i], family)))
			print_term(out, commands[i]->name, width, commands[i]->summary);
}

void print_family(FILE *out, const char *word)
{
	fprintf(out, "Usage: agentdeck %s COMMAND [ARGUMENT...]\n\nCommands:\n", word);
	print_commands(out, word);
	fprintf(out, "\nagentdeck help %s COMMAND tells more about one of them.\n", word);
}

void print_help(FILE *out, const struct command *command)
{
	if (command) {
		print_command(out, command);
		return;
	}
	fputs("Usage: agentdeck [-p PROFILE] COMMAND [ARGUMENT...]\n\n"
	      "Keeps AI coding agents alive: each runs in a tmux server of its own, out of reach\n"
	      "of your login, and comes back with its conversation after a logout, a kill or a\n"
	      "reboot.\n\n"
	      "Commands:\n", out);
	print_commands(out, NULL);
	fputs("\nOptions:\n", out);
	print_options(out, global_options, term_width(global_options, 0));
	fputs("\nThe session commands also work without the word: agentdeck start api.\n"
	      "A SESSION is a title, an id, the first characters of an id (3 or more), or a\n"
	      "directory.\n\n"
	      "First steps:\n"
	      "  agentdeck launch ~/src/api -t api   make a session for this directory, start it\n"
	      "  agentdeck attach api                work in it; Ctrl-Q leaves it running\n"
	      "  agentdeck start api                 bring it back, with its conversation\n\n"
	      "agentdeck COMMAND --help tells more about a command, man agentdeck about all of\n"
	      "it. agentdeck doctor says whether sessions survive a logout on this machine.\n", out);
}
