/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Completion: a shell's script passes the words of the command line, and gets the words that can
 * stand there.  So one reading of the command table serves every shell, and a script does not
 * change when a command does.
 *
 * The first line of the answer says what the shell adds from its own knowledge (native_name()).
 * Each further line is one candidate (offered.h).  Of the word that is already typed, the
 * candidates depend only on the part before the last comma of a list: each shell has its own rules
 * for the rest.
 */
#include "cli/help/help.h"

#include "cli/core/parse.h"
#include "cli/help/offered.h"
#include "cli/help/texts.h"

#include <string.h>

/* What the placeholder in a synopsis or of an option says. */
static enum value_kind kind_of(const char *placeholder)
{
	static const char *const placeholders[] = {
		[VALUE_SESSION] = "SESSION", [VALUE_AGENT] = "AGENT",    [VALUE_GROUP] = "GROUP",
		[VALUE_PROFILE] = "PROFILE", [VALUE_DIRECTORY] = "PATH", [VALUE_FILE] = "FILE",
		[VALUE_COMMAND] = "COMMAND", [VALUE_KEY] = "KEY",        [VALUE_HOST] = "HOST",
	};
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		if (placeholders[i] && streq(placeholders[i], placeholder))
			return (enum value_kind)i;
	return VALUE_BY_ARGUMENT;
}

/* The kind of the next operand: a word of the synopsis up to "--", without brackets and dots. */
static enum value_kind operand_kind(const struct app *line)
{
	cleanup_free char *words = xstrdup(line->command->arguments);
	size_t index = line->operands.count;
	char *rest = words;
	for (char *word; (word = strsep(&rest, " ")); index--) {
		const bool repeats = strstr(word, "...");
		word += strspn(word, "[(");
		word[strcspn(word, "]).|")] = '\0';
		if (streq(word, "--"))
			break;
		if (index == 0 || repeats)
			return kind_of(word);
	}
	return VALUE_BY_ARGUMENT;
}

static void put_options(const struct candidates *to, const struct command_option *options)
{
	for (; options && options->name; options++) {
		cleanup_free char *word = xasprintf("--%s", options->name);
		if (!options->is_hidden)
			candidates_put(to, word, options->help);
	}
}

static void put_all_options(const struct candidates *to, const struct app *line)
{
	const struct command *command = line->command;
	put_options(to, command ? command->options : NULL);
	put_options(to, command ? command_json_options(command) : NULL);
	put_options(to, command || line->family ? common_options : global_options);
}

/* The answer's first line. */
static const char *native_name(enum value_kind kind, const char *typed)
{
	switch (kind) {
	case VALUE_DIRECTORY:
	case VALUE_ROLE:
		return "directories";
	case VALUE_SESSION:
		return strchr(typed, '/') ? "directories" : "none";
	case VALUE_FILE:
		return "files";
	case VALUE_AGENT_ARGUMENT:
		return typed[0] == '-' ? "none" : "files";
	case VALUE_PROGRAM:
		return "programs";
	default:
		return "none";
	}
}

static struct offer offer_of_option(const struct command_option *option)
{
	struct offer offer = option->offer;
	if (!offer.count && offer.kind == VALUE_BY_ARGUMENT)
		offer.kind = kind_of(option->argument);
	return offer;
}

/* What can be the next word, which is no option. */
static struct offer offer_at(const struct app *line, const struct parse_place *place)
{
	const struct command *command = line->command;
	struct offer offer = { 0 };
	if (place->option)
		return offer_of_option(place->option);
	if (command && command->offer)
		offer = command->offer(line, place->is_rest);
	if (offer.count || offer.kind != VALUE_BY_ARGUMENT)
		return offer;
	if (place->is_rest)
		offer.kind = VALUE_FILE;
	else
		offer.kind = command ? operand_kind(line) : VALUE_COMMAND;
	return offer;
}

static int answer(const struct candidates *to, struct app *app, const struct app *line,
		  const struct parse_place *place, struct error *err)
{
	const bool is_option = !place->option && !place->is_rest && to->typed[0] == '-';
	const bool is_lost = place->is_lost || (*to->prefix && !place->option);
	struct offer offer = { 0 };
	if (!is_option && !is_lost)
		offer = offer_at(line, place);
	fprintf(to->out, "%s\n", native_name(offer.kind, to->typed));
	if (is_lost)
		return 0;
	if (is_option)
		put_all_options(to, line);
	return offer.kind == VALUE_SESSION ? candidates_offer_sessions(to, app, line, &offer, err)
					   : candidates_offer(to, app, line, &offer, err);
}

/* "--devcontainer=": a line is complete without that value, so no reader of lines asks for it. */
static const struct command_option *optional_option(const struct app *line, const char *flag)
{
	const struct command_option *option = line->command ? line->command->options : NULL;
	for (; option && option->name; option++)
		if (starts_with(or_empty(option->argument), "[=") &&
		    streq(option->name, flag + strlen("--")))
			return option;
	return NULL;
}

int print_candidates(FILE *out, struct app *app, const struct strvec *words, struct error *err)
{
	cleanup_app struct app line = { .profile = app->profile };
	struct parse_place place;
	const char *word = words->count ? words->items[words->count - 1] : "";
	const char *equals = starts_with(word, "--") ? strchr(word, '=') : NULL;
	cleanup_free char *flag = xstrndup(word, equals ? (size_t)(equals - word) : 0);
	cleanup_free char *prefix = equals ? xasprintf("%s=", flag) : xstrdup("");
	/* The program's name, the words before the last one, and the flag of "--agent=". */
	cleanup_free char **argv = xcalloc(words->count + 3, sizeof(*argv));
	int argc = 0;
	argv[argc++] = prefix;
	for (size_t i = 0; i + 1 < words->count; i++)
		argv[argc++] = words->items[i];
	if (equals)
		argv[argc++] = flag;
	parse_unfinished(&line, argc, argv, &place);
	if (equals && !place.option)
		place.option = optional_option(&line, flag);
	if (deck_open(line.profile, "complete", &app->deck, err) < 0)
		return -1;
	const struct candidates to = { out, prefix, equals ? equals + 1 : word };
	return answer(&to, app, &line, &place, err);
}

const char *const shell_words[SHELL_COUNT] = {
	[SHELL_BASH] = "bash",
	[SHELL_ZSH] = "zsh",
	[SHELL_FISH] = "fish",
};

void print_completion(FILE *out, enum shell shell)
{
	static const char *const scripts[SHELL_COUNT] = {
		[SHELL_BASH] = text_bash,
		[SHELL_ZSH] = text_zsh,
		[SHELL_FISH] = text_fish,
	};
	fputs(scripts[shell], out);
}
