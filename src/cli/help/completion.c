/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Completion: a shell's script passes the words of the command line, and gets the words that can
 * stand there.  So one reading of the command table serves every shell, and a script does not
 * change when a command does.  No program is started for it: titles come from the index.
 *
 * The first line of the answer says what the shell adds from its own knowledge (native_name()).
 * Each further line is one candidate, followed by a tab and an explanation if there is one.  The
 * candidates do not depend on the part of the word that is already typed: each shell has its own
 * rules for that.
 */
#include "cli/help/help.h"

#include "cli/core/parse.h"
#include "cli/help/texts.h"
#include "model/settings/values.h"

#include <string.h>

/* kind, or what the placeholder in a synopsis or an option says. */
static enum value_kind kind_of(enum value_kind kind, const char *placeholder)
{
	static const char *const placeholders[] = {
		[VALUE_SESSION] = "SESSION", [VALUE_AGENT] = "AGENT",    [VALUE_GROUP] = "GROUP",
		[VALUE_PROFILE] = "PROFILE", [VALUE_DIRECTORY] = "PATH", [VALUE_FILE] = "FILE",
		[VALUE_COMMAND] = "COMMAND", [VALUE_KEY] = "KEY",
	};
	for (size_t i = 0; kind == VALUE_BY_ARGUMENT && i < ARRAY_SIZE(placeholders); i++)
		if (placeholders[i] && streq(placeholders[i], placeholder))
			kind = (enum value_kind)i;
	return kind;
}

/* Of the operand at this index: a word of the synopsis up to "--", without brackets and dots. */
static enum value_kind operand_kind(const struct command *command, size_t index)
{
	cleanup_free char *words = xstrdup(command->arguments);
	char *rest = words;
	for (char *word; (word = strsep(&rest, " ")); index--) {
		const bool repeats = strstr(word, "...");
		word += strspn(word, "[(");
		word[strcspn(word, "]).|")] = '\0';
		if (streq(word, "--"))
			break;
		if (index == 0 || repeats)
			return kind_of(command->operand, word);
	}
	return VALUE_BY_ARGUMENT;
}

/* prefix: what precedes the value in its word ("--agent="), or "". */
static void put(FILE *out, const char *prefix, const char *word, const char *text)
{
	cleanup_free char *shown = text ? visible(text) : NULL;
	fprintf(out, "%s%s%s%s\n", prefix, word, shown ? "\t" : "", or_empty(shown));
}

static void put_options(FILE *out, const struct command_option *options)
{
	for (; options && options->name; options++) {
		cleanup_free char *word = xasprintf("--%s", options->name);
		put(out, "", word, options->help);
	}
}

/* family NULL: the first words of all commands, and their short forms. */
static void put_commands(FILE *out, const char *family)
{
	cleanup_strvec struct strvec seen = { 0 };
	size_t skip = family ? strlen(family) + 1 : 0;
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		if (commands[i]->flags & IS_HIDDEN ||
		    (family && !command_is_in(commands[i], family)))
			continue;
		cleanup_free char *word = xstrndup(name + skip, strcspn(name + skip, " "));
		bool several = !family && strchr(name, ' ');
		if (strvec_contains(&seen, word))
			continue;
		strvec_push(&seen, word);
		put(out, "", word, several ? "several commands" : commands[i]->summary);
	}
	for (size_t i = 0; !family && commands[i]; i++) {
		const char *form;
		for (size_t j = 0; (form = command_short_form(commands[i], j)); j++)
			put(out, "", form, commands[i]->summary);
	}
}

static int put_rows(FILE *out, struct app *app, const char *prefix, bool groups, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_strvec struct strvec seen = { 0 };
	cleanup_free char *directory = path_join(app->deck.paths.state, app->deck.profile);
	/* Opening it would make the profile of a name that is only half typed. */
	if (access(directory, F_OK) < 0)
		return 0;
	if (deck_open_store(&app->deck, err) < 0 || store_list(app->deck.store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (!groups) {
			put(out, prefix, row->title, row->lookup_directory);
		} else if (row->group && !strvec_contains(&seen, row->group)) {
			strvec_push(&seen, row->group);
			put(out, prefix, row->group, NULL);
		}
	}
	return 0;
}

static int put_agents(FILE *out, struct app *app, const char *prefix, struct error *err)
{
	const struct registry *registry;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++)
		put(out, prefix, registry->agents[i]->name, registry->agents[i]->title);
	return 0;
}

static int put_profiles(FILE *out, struct app *app, const char *prefix, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (deck_profiles(&app->deck, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		put(out, prefix, names.items[i], NULL);
	return 0;
}

static int put_kind(FILE *out, struct app *app, const struct app *line, enum value_kind kind,
		    const char *prefix, struct error *err)
{
	const char *family = line->operands.count ? line->operands.items[0] : NULL;
	switch (kind) {
	case VALUE_SESSION:
	case VALUE_GROUP:
		return put_rows(out, app, prefix, kind == VALUE_GROUP, err);
	case VALUE_AGENT:
		return put_agents(out, app, prefix, err);
	case VALUE_KEY:
		for (size_t i = 0; settings_key(i); i++)
			put(out, prefix, settings_key(i)->path, settings_key(i)->about);
		return 0;
	case VALUE_PROFILE:
		return put_profiles(out, app, prefix, err);
	case VALUE_COMMAND:
		if (line->operands.count == 0 ||
		    (line->operands.count == 1 && command_is_family(family)))
			put_commands(out, family);
		return 0;
	default:
		return 0;
	}
}

/* The answer's first line. */
static const char *native_name(enum value_kind kind, bool is_path)
{
	switch (kind) {
	case VALUE_DIRECTORY:
		return "directories";
	case VALUE_SESSION:
		return is_path ? "directories" : "none";
	case VALUE_FILE:
		return "files";
	case VALUE_PROGRAM:
		return "programs";
	default:
		return "none";
	}
}

static enum value_kind kind_at(const struct app *line, const struct parse_place *place,
			       const char *word)
{
	const struct command *command = line->command;
	if (place->is_rest)
		return VALUE_FILE;
	if (place->option)
		return place->option->word_count
			       ? place->option->kind
			       : kind_of(place->option->kind, place->option->argument);
	if (!command || word[0] == '-')
		return VALUE_BY_ARGUMENT;
	return operand_kind(command, line->operands.count);
}

/* word: the one to be completed; prefix: what precedes the value in it ("--agent="), or "". */
static int answer(FILE *out, struct app *app, const struct app *line,
		  const struct parse_place *place, const char *word, const char *prefix,
		  struct error *err)
{
	const struct command *command = line->command;
	const enum value_kind kind = kind_at(line, place, word);
	fprintf(out, "%s\n", native_name(kind, strchr(word, '/') != NULL));
	if (place->is_lost || place->is_rest || (*prefix && !place->option))
		return 0;
	if (place->option) {
		for (size_t i = 0; i < place->option->word_count; i++)
			if (place->option->words[i])
				put(out, prefix, place->option->words[i], NULL);
		return put_kind(out, app, line, kind, prefix, err);
	}
	if (word[0] == '-') {
		put_options(out, command ? command->options : NULL);
		put_options(out, command ? command_json_options(command) : NULL);
		put_options(out, command || line->family ? common_options : global_options);
		return 0;
	}
	if (command)
		return put_kind(out, app, line, kind, prefix, err);
	put_commands(out, line->family);
	return 0;
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
	if (deck_open(line.profile, "complete", &app->deck, err) < 0)
		return -1;
	return answer(out, app, &line, &place, word, prefix, err);
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
