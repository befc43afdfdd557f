/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Completion: the shells' scripts hand over the words of the command line, and get back what can
 * stand there.  So one reading of the command table serves every shell, and a script need not change
 * when a command does.  No program is started for it: titles come from the index.
 *
 * The answer's first line says what the shell shall add from its own knowledge (native_name()); each
 * further line is one candidate, with a tab and an explanation where there is one.  Candidates are
 * not chosen by what is typed so far: shells have ideas of their own about that.
 */
#include "cli/manual.h"

#include "base/fsutil.h"
#include "model/naming.h"

#include <fcntl.h>
#include <string.h>

/* What stands in a place. */
enum kind {
	KIND_NONE,
	KIND_SESSION,
	KIND_AGENT,
	KIND_GROUP,
	KIND_PROFILE,
	KIND_DIRECTORY,
	KIND_FILE,
	KIND_PROGRAM,
	KIND_POLICY,
	KIND_WHEN,
	KIND_SHELL,
	KIND_COMMAND,
};

/* By the placeholder in a synopsis or an option. */
static const struct {
	const char *placeholder;
	enum kind kind;
} placeholders[] = {
	{ "SESSION", KIND_SESSION }, { "AGENT", KIND_AGENT },    { "GROUP", KIND_GROUP },
	{ "PROFILE", KIND_PROFILE }, { "PATH", KIND_DIRECTORY }, { "FILE", KIND_FILE },
	{ "POLICY", KIND_POLICY },   { "SHELL", KIND_SHELL },    { "COMMAND", KIND_COMMAND },
	{ "WHEN", KIND_WHEN },
};

static enum kind kind_of(const char *placeholder)
{
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		if (streq(placeholders[i].placeholder, placeholder))
			return placeholders[i].kind;
	return KIND_NONE;
}

static enum kind option_kind(const struct command_option *option)
{
	if (streq(option->name, "agent"))
		return KIND_AGENT;
	return streq(option->name, "cmd") ? KIND_PROGRAM : kind_of(option->argument);
}

/* Of the operand at this index: a word of the synopsis up to "--", brackets and dots aside. */
static enum kind operand_kind(const struct command *command, size_t index)
{
	cleanup_free char *words = xstrdup(command->arguments);
	char *rest = words;
	if (index >= command->max_operands)
		return KIND_NONE;
	for (char *word; (word = strsep(&rest, " "));) {
		word += strspn(word, "[(");
		word[strcspn(word, "]).|")] = '\0';
		if (streq(word, "--"))
			break;
		if (index-- > 0)
			continue;
		if (streq(word, "NAME") && starts_with(command->name, "agents "))
			return KIND_AGENT;
		return kind_of(word);
	}
	return KIND_NONE;
}

/* Where the cursor is. */
struct place {
	const char *word;              /* the one to be completed */
	const char *profile;
	const char *family;            /* its command is wanted; NULL */
	const struct command *command; /* NULL: the command itself is wanted */
	const struct command_option *option; /* its value is wanted; NULL */
	struct strvec operands;        /* before the cursor */
	bool lost, rest;               /* no such command; behind "--" */
};

static const struct command_option *find_option(const struct command_option *options,
						const char *word)
{
	for (; options && options->name; options++)
		if ((starts_with(word, "--") && streq(word + 2, options->name)) ||
		    (options->letter && word[0] == '-' && word[1] == options->letter && !word[2]))
			return options;
	return NULL;
}

/* The options before the command.  Returns the index of the first word behind them. */
static size_t read_globals(const struct strvec *words, struct place *place)
{
	size_t i = 0;
	for (; i + 1 < words->count && words->items[i][0] == '-'; i++) {
		const struct command_option *option = find_option(global_options, words->items[i]);
		if (starts_with(words->items[i], "--profile="))
			place->profile = words->items[i] + strlen("--profile=");
		if (!option || !option->argument)
			continue;
		if (++i + 1 == words->count)
			place->option = option;
		else
			place->profile = words->items[i];
	}
	return i;
}

/* The command's own words.  Returns the index of the first word behind them. */
static size_t read_command(const struct strvec *words, size_t i, struct place *place)
{
	const char *word = words->items[i++];
	if (!command_is_family(word)) {
		place->command = command_named(word);
	} else if (i + 1 == words->count) {
		place->family = word;
		return i;
	} else {
		cleanup_free char *name = xasprintf("%s %s", word, words->items[i++]);
		place->command = command_named(name);
	}
	place->lost = !place->command;
	return i;
}

static void read_rest(const struct strvec *words, size_t i, struct place *place)
{
	for (; i + 1 < words->count && !place->rest; i++) {
		const char *word = words->items[i];
		const struct command_option *option = find_option(place->command->options, word);
		if (streq(word, "--")) {
			place->rest = true;
		} else if (option && option->argument) {
			if (++i + 1 == words->count)
				place->option = option;
		} else if (word[0] != '-' || !word[1]) {
			strvec_push(&place->operands, word);
		}
	}
}

/* words: what is typed behind the program's name, the word to be completed last. */
static void find_place(const struct strvec *words, struct place *place)
{
	*place = (struct place){ .word = words->items[words->count - 1] };
	size_t i = read_globals(words, place);
	if (place->option || i + 1 >= words->count)
		return;
	i = read_command(words, i, place);
	if (place->command)
		read_rest(words, i, place);
}

/* prefix: what stands before the value in its word ("--agent="), or "". */
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
		    (family && !(starts_with(name, family) && name[skip - 1] == ' ')))
			continue;
		cleanup_free char *word = xstrndup(name + skip, strcspn(name + skip, " "));
		bool several = !family && strchr(name, ' ');
		if (strvec_contains(&seen, word))
			continue;
		strvec_push(&seen, word);
		put(out, "", word, several ? "several commands" : commands[i]->summary);
	}
	for (size_t i = 0; !family && command_aliases[i].word; i++) {
		const struct command *command = command_named(command_aliases[i].word);
		if (command && !strvec_contains(&seen, command_aliases[i].word))
			put(out, "", command_aliases[i].word, command->summary);
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
			put(out, prefix, row->title, row->cwd);
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
	cleanup_close int fd = open(app->deck.paths.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (naming_check_profile(names.items[i], NULL) == 0 &&
		    fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
			put(out, prefix, names.items[i], NULL);
	}
	return 0;
}

static void put_all(FILE *out, const char *prefix, const char *const *words)
{
	for (; *words; words++)
		put(out, prefix, *words, NULL);
}

static int put_kind(FILE *out, struct app *app, const struct place *place, enum kind kind,
		    const char *prefix, struct error *err)
{
	const char *family = place->operands.count ? place->operands.items[0] : NULL;
	switch (kind) {
	case KIND_SESSION:
	case KIND_GROUP:
		return put_rows(out, app, prefix, kind == KIND_GROUP, err);
	case KIND_AGENT:
		return put_agents(out, app, prefix, err);
	case KIND_PROFILE:
		return put_profiles(out, app, prefix, err);
	case KIND_COMMAND:
		if (!family || command_is_family(family))
			put_commands(out, family);
		return 0;
	case KIND_POLICY:
		put_all(out, prefix, (const char *const[]){ "auto", "confirm", "never", NULL });
		return 0;
	case KIND_WHEN:
		put_all(out, prefix, (const char *const[]){ "no", "on-failure", "always", NULL });
		return 0;
	case KIND_SHELL:
		put_all(out, prefix, (const char *const[]){ "bash", "zsh", "fish", NULL });
		return 0;
	default:
		return 0;
	}
}

/* The answer's first line. */
static const char *native_name(enum kind kind, bool is_path)
{
	switch (kind) {
	case KIND_DIRECTORY:
		return "directories";
	case KIND_SESSION:
		return is_path ? "directories" : "none";
	case KIND_FILE:
		return "files";
	case KIND_PROGRAM:
		return "programs";
	default:
		return "none";
	}
}

static int answer(FILE *out, struct app *app, const struct place *place, struct error *err)
{
	const struct command *command = place->command;
	const struct command_option *options = command ? command->options : global_options;
	const char *equals = starts_with(place->word, "--") ? strchr(place->word, '=') : NULL;
	cleanup_free char *flag = equals ? xstrndup(place->word, (size_t)(equals - place->word)) : NULL;
	cleanup_free char *prefix = equals ? xasprintf("%s=", flag) : xstrdup("");
	const struct command_option *option = flag ? find_option(options, flag) : place->option;
	enum kind kind = KIND_NONE;

	if (place->rest)
		kind = KIND_FILE;
	else if (option && option->argument)
		kind = option_kind(option);
	else if (command && place->word[0] != '-')
		kind = operand_kind(command, place->operands.count);
	/* "agentdeck help session" goes on with the family's own. */
	if (command && command->max_operands > 1 && kind == KIND_NONE && place->operands.count == 1 &&
	    operand_kind(command, 0) == KIND_COMMAND)
		kind = KIND_COMMAND;
	fprintf(out, "%s\n", native_name(kind, strchr(place->word, '/') != NULL));
	if (place->lost || place->rest || (equals && !option))
		return 0;
	if (!option && place->word[0] == '-') {
		put_options(out, options);
		if (command) {
			put_options(out, command->flags & HAS_JSON ? json_options : NULL);
			put(out, "", "--help", "print its help");
		}
		return 0;
	}
	if (option || command)
		return put_kind(out, app, place, kind, prefix, err);
	put_commands(out, place->family);
	return 0;
}

int print_candidates(FILE *out, struct app *app, const struct strvec *words, struct error *err)
{
	static char empty[] = "";
	static char *nothing[] = { empty, NULL };
	const struct strvec none = { .items = nothing, .count = 1 };
	struct place place;
	find_place(words->count ? words : &none, &place);
	const char *profile = place.profile ? place.profile : app->profile;
	int r = deck_open(profile, "complete", &app->deck, err);
	if (r == 0)
		r = answer(out, app, &place, err);
	strvec_clear(&place.operands);
	return r;
}

static const char bash_script[] =
	"# bash completion for agentdeck\n"
	"\n"
	"# as it has to stand behind a quote: the shell reads it again, and a title may be \"$(...)\"\n"
	"_agentdeck_quote()\n"
	"{\n"
	"	local char\n"
	"	local -i i\n"
	"	quoted=''\n"
	"	for ((i = 0; i < ${#2}; i++)); do\n"
	"		char=${2:i:1}\n"
	"		case $1$char in\n"
	"		\\\"[\\\"\\\\\\$\\`]) quoted+=\\\\$char ;;\n"
	"		\\'\\') quoted+=\"'\\\\''\" ;;\n"
	"		*) quoted+=$char ;;\n"
	"		esac\n"
	"	done\n"
	"}\n"
	"\n"
	"_agentdeck()\n"
	"{\n"
	"	local word quoted cur glue='' done=''\n"
	"	local -a words=() lines=()\n"
	"	local -i i\n"
	"	COMPREPLY=()\n"
	"	# bash splits at \":\" and \"=\" too, and replaces only the last piece\n"
	"	for ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		if ((${#words[@]})) && [[ $glue || $word == [:=]* ]]; then\n"
	"			words[${#words[@]} - 1]+=$word\n"
	"		else\n"
	"			words+=(\"$word\")\n"
	"		fi\n"
	"		if [[ $word == [:=] ]]; then glue=1; else glue=''; fi\n"
	"	done\n"
	"	cur=${words[${#words[@]} - 1]}\n"
	"	if [[ $glue ]]; then done=$cur; else done=${cur%\"$word\"}; fi\n"
	"	mapfile -t lines < <(command agentdeck help --complete -- \"${words[@]}\" 2>/dev/null)\n"
	"	case ${lines[0]-} in\n"
	"	directories) compopt -o dirnames ;;\n"
	"	files) compopt -o default ;;\n"
	"	programs) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
	"	esac\n"
	"	for ((i = 1; i < ${#lines[@]}; i++)); do\n"
	"		word=${lines[i]%%$'\\t'*}\n"
	"		if [[ $cur == [\\\"\\']* ]]; then\n"
	"			[[ $word == \"${cur:1}\"* || $cur == *\\\\* ]] || continue\n"
	"			_agentdeck_quote \"${cur:0:1}\" \"$word\"\n"
	"			if [[ $word == \"${cur:1}\"* || $quoted == \"${cur:1}\"* ]]; then\n"
	"				COMPREPLY+=(\"$quoted\")\n"
	"			fi\n"
	"		else\n"
	"			printf -v quoted %q \"$word\"\n"
	"			if [[ $word == \"$cur\"* || $quoted == \"$cur\"* ]]; then\n"
	"				COMPREPLY+=(\"${quoted#\"$done\"}\")\n"
	"			fi\n"
	"		fi\n"
	"	done\n"
	"}\n"
	"complete -F _agentdeck agentdeck\n";

static const char zsh_script[] =
	"#compdef agentdeck\n"
	"# zsh completion for agentdeck\n"
	"\n"
	"_agentdeck() {\n"
	"	local line text expl ret=1\n"
	"	local -a lines candidates\n"
	"	lines=(\"${(@f)$(command agentdeck help --complete -- \\\n"
	"		\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	"	for line in \"${(@)lines[2,-1]}\"; do\n"
	"		text=${${line%%$'\\t'*}//\\\\/\\\\\\\\}\n"
	"		text=${text//:/\\\\:}\n"
	"		[[ $line == *$'\\t'* ]] && text+=:${line#*$'\\t'}\n"
	"		candidates+=(\"$text\")\n"
	"	done\n"
	"	(( $#candidates )) && _describe -t agentdeck agentdeck candidates && ret=0\n"
	"	case $lines[1] in\n"
	"	# \"_files -/\" offers files where there is no directory\n"
	"	(directories) _wanted directories expl directory _path_files -/ && ret=0 ;;\n"
	"	(files) _files && ret=0 ;;\n"
	"	(programs) _command_names && ret=0 ;;\n"
	"	esac\n"
	"	# without a match the user's other ways to complete have their turn\n"
	"	return ret\n"
	"}\n"
	"\n"
	"# Autoloaded from $fpath this file is the function; otherwise it is sourced.\n"
	"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	"	_agentdeck \"$@\"\n"
	"else\n"
	"	compdef _agentdeck agentdeck\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for agentdeck\n"
	"\n"
	"function __agentdeck_complete\n"
	"    set -l words (commandline -opc) (commandline -ct)\n"
	"    set -l lines (command agentdeck help --complete -- $words[2..-1] 2>/dev/null)\n"
	"    switch \"$lines[1]\"\n"
	"        case directories\n"
	"            __fish_complete_directories (commandline -ct)\n"
	"        case files\n"
	"            __fish_complete_path (commandline -ct)\n"
	"        case programs\n"
	"            __fish_complete_command\n"
	"    end\n"
	"    if test (count $lines) -gt 1\n"
	"        printf '%s\\n' $lines[2..-1]\n"
	"    end\n"
	"end\n"
	"\n"
	"complete -c agentdeck -f -a '(__agentdeck_complete)'\n";

int print_completion(FILE *out, const char *shell, struct error *err)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		if (streq(scripts[i].shell, shell)) {
			fputs(scripts[i].script, out);
			return 0;
		}
	}
	cleanup_free char *shown = visible(shell);
	return error_set(err, ERROR_USAGE, "there is no completion for '%s', only for bash, zsh and fish",
			 shown);
}
