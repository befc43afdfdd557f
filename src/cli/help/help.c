/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/help.h"

#include "cli/help/texts.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 80, WIDEST_TERM = 28 };

/* Print text in lines up to the right margin.  column: where we are; indent: of further lines. */
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
	const char *argument = or_empty(option->argument);
	return xasprintf("%s--%s%s%s", letter, option->name,
			 *argument && *argument != '[' ? " " : "", argument);
}

/* Print a term in a column of this width, with its explanation beside it. */
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
		if (!options[i].is_hidden && length > width && length <= WIDEST_TERM)
			width = length;
	}
	return width;
}

static void print_options(FILE *out, const struct command_option *options, size_t width)
{
	for (size_t i = 0; options && options[i].name; i++) {
		cleanup_free char *term = option_term(&options[i]);
		if (!options[i].is_hidden)
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

static void print_examples(FILE *out, const struct command *command)
{
	cleanup_free char *examples = command_examples(command);
	const char *rest = examples;
	char *line, *text;
	if (*examples)
		fprintf(out, "\nExamples:\n");
	while (next_example(&rest, &line, &text)) {
		fprintf(out, "  %s\n      %s\n", line, text);
		free(line);
		free(text);
	}
}

static void print_command(FILE *out, const struct command *command)
{
	size_t width = term_width(command->options, term_width(common_options, 0));

	print_usage(out, "Usage:", command->name, command);
	const char *form;
	for (size_t i = 0; (form = command_short_form(command, i)); i++)
		print_usage(out, "   or:", form, command);
	cleanup_free char *summary = xasprintf("%c%s.", toupper((unsigned char)command->summary[0]),
					       command->summary + 1);
	fputc('\n', out);
	print_folded(out, 0, 0, summary);
	cleanup_free char *description = command_description(command);
	print_paragraphs(out, description);
	print_examples(out, command);
	fprintf(out, "\nOptions:\n");
	print_options(out, command->options, width);
	print_options(out, command_json_options(command), width);
	print_options(out, common_options, width);
}

enum which { VISIBLE, HIDDEN };

/* family: only its commands; NULL: all. */
static void print_commands(FILE *out, const char *family, enum which which)
{
	size_t width = 0;
	for (size_t i = 0; commands[i]; i++)
		if (strlen(commands[i]->name) > width)
			width = strlen(commands[i]->name);
	for (size_t i = 0; commands[i]; i++)
		if ((commands[i]->kind == COMMAND_INTERNAL) == (which == HIDDEN) &&
		    (!family || command_is_in(commands[i], family)))
			print_term(out, commands[i]->name, width, commands[i]->summary);
}

/* How the short help groups the commands: their short forms, and the first words of families.  The
 * first ones of a group are explained, the others only named, so that all fit a screen.  A command
 * that is nowhere is named in the last group. */
static const struct {
	const char *title, *words[4], *others[24];
} groups[] = {
	{ "start and find sessions",
	  { "launch", "attach", "list" },
	  { "ui", "add", "start", "stop", "restart", "adopt", "import", "fork", "up", "down",
	    "diff" } },
	{ "talk to an agent",
	  { "send" },
	  { "output", "changes", "merge", "push", "move", "search", "look", "approve", "deny" } },
	{ "look",
	  { "show" },
	  { "status", "wall", "current", "path", "check", "events", "top", "logs", "exec",
	    "shell" } },
	{ "recover",
	  { "recover", "doctor" },
	  { "supervise", "undo", "discover", "history", "backup", "restore", "host", "forward" } },
	{ "administer",
	  { 0 },
	  { "rename", "remove", "prune", "purge", "settle", "set", "limit", "eject", "export",
	    "group", "profile", "session", "agents", "config", "image", "role", "switch",
	    "completion", "help" } },
};
enum { TERM_WIDTH = 10 };

static bool is_grouped(const char *word)
{
	/* What other programs ask for has no room on the screen: help --all lists it. */
	if (streq(word, "address") || streq(word, "once") || streq(word, "mcp") ||
	    streq(word, "skill"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		for (size_t j = 0; groups[i].words[j]; j++)
			if (streq(groups[i].words[j], word))
				return true;
		for (size_t j = 0; groups[i].others[j]; j++)
			if (streq(groups[i].others[j], word))
				return true;
	}
	return false;
}

/* The word, and the other names of its command: "list, ls", "remove (rm)". */
static char *with_aliases(const char *word, const char *before, const char *after)
{
	const struct command *command = command_named(word);
	const char *form;
	struct strbuf term = { 0 };
	strbuf_adds(&term, word);
	for (size_t i = 0; command && (form = command_short_form(command, i)); i++)
		if (!streq(form, word))
			strbuf_addf(&term, "%s%s%s", before, form, after);
	return strbuf_take(&term);
}

static void add_other(struct strbuf *line, const char *word)
{
	cleanup_free char *name = with_aliases(word, " (", ")");
	strbuf_addf(line, "%s%s", line->length ? ", " : "", name);
}

/* The commands that are in no group. */
static void add_ungrouped(struct strbuf *line)
{
	cleanup_strvec struct strvec seen = { 0 };
	for (size_t i = 0; commands[i]; i++) {
		const char *form = command_short_form(commands[i], 0);
		cleanup_free char *first = xstrndup(commands[i]->name,
						    strcspn(commands[i]->name, " "));
		const char *word = strchr(commands[i]->name, ' ') && form ? form : first;
		if (commands[i]->kind == COMMAND_INTERNAL || is_grouped(word) ||
		    strvec_contains(&seen, word))
			continue;
		strvec_push(&seen, word);
		add_other(line, word);
	}
}

static void print_groups(FILE *out, const struct command *command UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		cleanup_strbuf struct strbuf line = { 0 };
		fprintf(out, "%s\n", groups[i].title);
		for (size_t j = 0; groups[i].words[j]; j++) {
			cleanup_free char *term = with_aliases(groups[i].words[j], ", ", "");
			print_term(out, term, TERM_WIDTH,
				   command_named(groups[i].words[j])->summary);
		}
		for (size_t j = 0; groups[i].others[j]; j++)
			add_other(&line, groups[i].others[j]);
		if (i + 1 == ARRAY_SIZE(groups))
			add_ungrouped(&line);
		if (groups[i].words[0] && line.length) {
			print_term(out, "more:", TERM_WIDTH, strbuf_text(&line));
		} else if (line.length) {
			fputs("  ", out);
			print_folded(out, 2, 2, strbuf_text(&line));
		}
	}
	fputc('\n', out);
}

void print_family(FILE *out, const char *word)
{
	fprintf(out, "Usage: agentdeck %s COMMAND [ARGUMENT...]\n\nCommands:\n", word);
	print_commands(out, word, VISIBLE);
	fprintf(out, "\nagentdeck help %s COMMAND tells more about one of them.\n", word);
}

static void print_all(FILE *out, const struct command *command UNUSED)
{
	print_commands(out, NULL, VISIBLE);
}

static void print_hidden(FILE *out, const struct command *command UNUSED)
{
	print_commands(out, NULL, HIDDEN);
}

static void print_globals(FILE *out, const struct command *command UNUSED)
{
	print_options(out, global_options, term_width(global_options, 0));
}

void print_help(FILE *out, const struct command *command)
{
	static const struct text_part parts[] = { { "COMMANDS", print_groups }, { 0 } };
	if (command)
		print_command(out, command);
	else
		print_text(out, text_help, parts, NULL);
}

void print_all_help(FILE *out)
{
	static const struct text_part parts[] = {
		{ "COMMANDS", print_all },
		{ "HIDDEN", print_hidden },
		{ "OPTIONS", print_globals },
		{ 0 },
	};
	print_text(out, text_help_all, parts, NULL);
}
