/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck(1) in the man(7) language: what the command table says, between what it cannot say.
 */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

/* When the texts in this file were last looked through. */
#define REVISED "2026-11-21"

enum { LINE = 72 };

struct term {
	const char *term, *text;
};

static const struct term targets[] = {
	{ "title", "the exact title, as in agentdeck list" },
	{ "id", "the id of 8 characters, or its first characters, 3 or more, if no other id begins so" },
	{ "path", "the directory that the session works in, if no other session works there" },
	{ 0 },
};

static const struct term files[] = {
	{ "~/.config/agentdeck/config.toml", "configuration; everything in it has a default" },
	{ "~/.config/agentdeck/agents/NAME.toml",
	  "agents of your own, and changes to those that come with agentdeck" },
	{ "~/.local/state/agentdeck/PROFILE/ID/instance.json",
	  "the manifest of a session: all that is known of it" },
	{ "~/.local/state/agentdeck/PROFILE/instances.json",
	  "a cache of the manifests; may be deleted at any time" },
	{ "~/.local/state/agentdeck/logs/agentdeck.log", "one line for each decision" },
	{ "/run/user/UID/agentdeck/ID/", "tmux socket and other files of a running session" },
	{ "/tmp/agentdeck-UID/ID/", "the same for a session without a scope of its own" },
	{ 0 },
};

static const struct term environment[] = {
	{ "AGENTDECK_HOME", "an absolute path: configuration and state are directly in it, and the files "
			    "of running sessions in its directory run" },
	{ "AGENTDECK_PROFILE", "the profile when -p is not given" },
	{ "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR",
	  "take the place of ~/.config, ~/.local/state and /run/user/UID below" },
	{ "TMPDIR", "takes the place of /tmp below" },
	{ "NO_COLOR", "if set and not empty: no colours" },
	{ "SHELL", "runs as the agent \"shell\", and in the place of an agent that does not start" },
	{ "SSH_AUTH_SOCK", "agents see a link of ours in its place, which every command points at its "
			   "caller's SSH agent, so that it survives the login" },
	{ "AGENTDECK_INSTANCE_ID, AGENTDECK_RUN, AGENTDECK_REPORT_TOKEN",
	  "set for the agent: which session it is, which of its lives, and the proof of it" },
	{ 0 },
};

static const struct term statuses[] = {
	{ "0", "done" },
	{ "1", "failed" },
	{ "2", "the session or agent was not found, or the name fits several" },
	{ "3", "attaching was refused: there is no terminal, or this one is inside tmux" },
	{ "64", "the command line is wrong" },
	{ 0 },
};

static const struct term examples[] = {
	{ "agentdeck launch ~/src/api -t api", "make a session for a directory and start it" },
	{ "agentdeck add . -c './agent --model small' -g work",
	  "only make one, with a command of your own, in a group" },
	{ "agentdeck attach api", "work in it; Ctrl-Q leaves it running" },
	{ "agentdeck start api", "bring it back after a kill or a reboot, with its conversation" },
	{ "agentdeck list --json", "for scripts" },
	{ 0 },
};

/* A character as the reader shall see and copy it: groff makes typographic ones of some. */
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

/* One line of our source may be several of roff's. */
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

/* The first one needs no space above it behind a heading. */
static void put_paragraphs(FILE *out, const char *text, bool behind_heading)
{
	bool as_is;
	for (char *paragraph; (paragraph = next_paragraph(&text, &as_is)); free(paragraph)) {
		fputs(behind_heading ? "" : ".PP\n", out);
		behind_heading = false;
		if (as_is)
			put_as_is(out, paragraph);
		else
			put_text(out, paragraph);
	}
}

static void put_terms(FILE *out, const struct term *terms)
{
	for (; terms->term; terms++) {
		fputs(".TP\n\\fB", out);
		put_word(out, terms->term, strlen(terms->term));
		fputs("\\fR\n", out);
		put_sentence(out, terms->text);
	}
}

static void put_options(FILE *out, const struct command_option *options)
{
	for (; options && options->name; options++) {
		fputs(".TP\n", out);
		if (options->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", options->letter);
		fputs("\\fB\\-\\-", out);
		put_word(out, options->name, strlen(options->name));
		fputs("\\fR", out);
		if (options->argument)
			fprintf(out, " \\fI%s\\fR", options->argument);
		fputc('\n', out);
		put_sentence(out, options->help);
	}
}

/* Capitals are what the user replaces. */
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
	put_synopsis(out, command->name, command);
	for (size_t i = 0; command_aliases[i].word; i++) {
		if (!streq(command_aliases[i].name, command->name))
			continue;
		fputs(".br\n", out);
		put_synopsis(out, command_aliases[i].word, command);
	}
}

static void put_command(FILE *out, const struct command *command)
{
	fprintf(out, ".SS \"%s\"\n", command->name);
	put_usage(out, command);
	fputs(".PP\n", out);
	put_sentence(out, command->summary);
	put_paragraphs(out, command->description, false);
	put_options(out, command->options);
	if (command->flags & HAS_JSON)
		put_options(out, json_options);
}

static void put_heading(FILE *out, const char *heading)
{
	fprintf(out, ".SH %s\n", heading);
}

static void put_commands(FILE *out)
{
	put_heading(out, "COMMANDS");
	put_text(out, "Every command also takes --help.");
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->flags & IS_HIDDEN))
			put_command(out, commands[i]);
}

/* name: of the page, with a dash where the command has a space. */
static void put_title(FILE *out, const char *name, const char *summary)
{
	fputs(".\\\" Made by agentdeck help --man from the command table: do not edit.\n.TH ", out);
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, " 1 \"" REVISED "\" \"agentdeck %s\" \"User Commands\"\n.SH NAME\n", PACKAGE_VERSION);
	put_word(out, name, strlen(name));
	fputs(" \\- ", out);
	put_word(out, summary, strlen(summary));
	fputc('\n', out);
	put_heading(out, "SYNOPSIS");
}

static void put_beginning(FILE *out)
{
	put_title(out, "agentdeck", "keep AI coding agents alive, with their conversations");
	fputs("\\fBagentdeck\\fR [\\fB\\-p\\fR \\fIPROFILE\\fR] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n", out);
	put_heading(out, "DESCRIPTION");
	put_paragraphs(out,
		"agentdeck runs each AI coding agent in a tmux server of its own, puts that server into a "
		"systemd scope where the end of a login does not reach it, and remembers which conversation "
		"the agent is in. After a logout, a kill or a reboot the same command brings the agent back "
		"in the same directory, with the same conversation.\n\n"
		"A session is what you gave a title: a directory, an agent, a conversation. It stays until "
		"you remove it, whether its agent runs or not. No daemon is needed.", true);
	put_heading(out, "OPTIONS");
	put_options(out, global_options);
}

static void put_middle(FILE *out)
{
	put_heading(out, "NAMES OF SESSIONS");
	put_text(out, "Where a command wants a SESSION, it takes, in this order:");
	put_terms(out, targets);
	put_heading(out, "CONVERSATIONS");
	put_paragraphs(out,
		"An agent that takes conversation ids gets one when its session is made, or at its first "
		"start. From then on a start tries, in this order: to resume the conversation by its id; to "
		"start under the same id, if nothing was written under it yet; to start with a new id, and to "
		"tell you \"history not restored\" with the reason; to start without any id; to open a shell "
		"in the same place. An attempt that ends with an exit status of its own within [resume] "
		"probation, before the agent has reported that it is up, is followed by the next one.\n\n"
		"The prompt that a session was launched with is sent once and never again. Two sessions never "
		"run the same conversation at a time.", true);
}

static void put_end(FILE *out)
{
	put_heading(out, "JSON");
	put_text(out, "With --json the result is one JSON value on standard output. A failure is an "
		      "object with success (false), error (for people) and code (a word for programs, "
		      "like NOT_FOUND); warnings stay on standard error.");
	put_heading(out, "EXIT STATUS");
	put_terms(out, statuses);
	put_heading(out, "ENVIRONMENT");
	put_terms(out, environment);
	put_heading(out, "FILES");
	put_terms(out, files);
	put_heading(out, "EXAMPLES");
	put_terms(out, examples);
	put_heading(out, "SEE ALSO");
	fputs(".BR tmux (1),\n.BR loginctl (1),\n.BR logind.conf (5),\n.BR systemd.scope (5)\n", out);
}

void print_manual(FILE *out)
{
	put_beginning(out);
	put_middle(out);
	put_commands(out);
	put_end(out);
}

void print_command_manual(FILE *out, const struct command *command)
{
	cleanup_free char *name = xasprintf("agentdeck-%s", command->name);
	for (char *space = name; (space = strchr(space, ' '));)
		*space = '-';
	put_title(out, name, command->summary);
	put_usage(out, command);
	put_heading(out, "DESCRIPTION");
	put_sentence(out, command->summary);
	put_paragraphs(out, command->description, false);
	if (command->options || command->flags & HAS_JSON)
		put_heading(out, "OPTIONS");
	put_options(out, command->options);
	if (command->flags & HAS_JSON)
		put_options(out, json_options);
	put_heading(out, "SEE ALSO");
	fputs(".BR agentdeck (1)\n", out);
}
