/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/core/parse.h"

#include <getopt.h>
#include <string.h>

/* What a line without a command runs. */
#define WITHOUT_COMMAND "ui"

enum { OPTIONS_MAX = 64, LONG_OPTION = 256 };

/* What one call of getopt_long() may meet. */
struct option_set {
	const char *manual; /* what the error refers to */
	const struct command_option *options[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 1]; /* by the same index; their values from LONG_OPTION */
	char letters[3 + 2 * OPTIONS_MAX];
	size_t count;
};

struct parser {
	struct app *app;
	struct parse_place *place; /* of an unfinished line; else NULL */
};

static int argument_of(const struct command_option *option)
{
	return !option->argument            ? no_argument
	       : option->argument[0] == '[' ? optional_argument
					    : required_argument;
}

static void set_add(struct option_set *set, const struct command_option *option)
{
	size_t end = strlen(set->letters);
	for (; option && option->name; option++) {
		if (set->count == OPTIONS_MAX)
			abort();
		set->options[set->count] = option;
		set->longs[set->count] = (struct option){ option->name, argument_of(option), NULL,
							  LONG_OPTION + (int)set->count };
		set->count++;
		if (option->letter)
			set->letters[end++] = option->letter;
		if (option->letter && option->argument)
			set->letters[end++] = ':';
	}
}

static const struct command_option *set_find(const struct option_set *set, int letter)
{
	if (letter >= LONG_OPTION)
		return set->options[letter - LONG_OPTION];
	for (size_t i = 0; i < set->count; i++)
		if (letter && set->options[i]->letter == letter)
			return set->options[i];
	return NULL;
}

/* Everybody on the machine can read a command line, and journald adds it to each line of the log.
 * So "-" takes the place of the word, before the log is opened. */
static void take_out(char *word)
{
	const size_t length = strlen(word);
	if (length == 0)
		return;
	memset(word, 0, length);
	*word = '-';
}

static int refuse_value(const struct command_option *option, const char *value, const char *wanted,
			struct error *err)
{
	cleanup_free char *shown = visible(value);
	return error_set(err, ERROR_USAGE, "--%s must be %s, not '%s'", option->name, wanted,
			 shown);
}

static int set_number(const struct command_option *option, const char *value, int64_t *variable,
		      struct error *err)
{
	if (parse_int64(value, option->least, option->most, variable))
		return 0;
	cleanup_free char *wanted = xasprintf("%s from %lld to %lld",
					      option->unit ? option->unit : "a number",
					      (long long)option->least, (long long)option->most);
	return refuse_value(option, value, wanted, err);
}

static int set_choice(const struct command_option *option, const char *value, unsigned *variable,
		      struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_strbuf struct strbuf wanted = { 0 };
	for (size_t i = 0; i < option->offer.count; i++) {
		const char *word = option->offer.words[i];
		if (word && streq(word, value)) {
			*variable = (unsigned)i;
			return 0;
		}
		if (word)
			strvec_push(&words, word);
	}
	for (size_t i = 0; i < words.count; i++)
		strbuf_addf(&wanted, "%s%s",
			    i == 0                 ? ""
			    : i + 1 == words.count ? " or "
						   : ", ",
			    words.items[i]);
	return refuse_value(option, value, strbuf_text(&wanted), err);
}

static int set_limit(const struct command_option *option, const char *value,
		     struct limit_change *variable, struct error *err)
{
	if (limit_parse(option->limit, value, limit_of(&variable->limits, option->limit), err) < 0)
		return error_prefix(err, "--%s", option->name);
	variable->given[option->limit] = true;
	return 0;
}

static int set_variable(struct app *app, const struct command_option *option, char *value,
			struct error *err)
{
	void *variable = (char *)(option->is_of_app ? (void *)app : app->options) + option->offset;
	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)variable = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)variable = or_empty(value);
		return 0;
	case OPTION_MESSAGE:
		/* The strings stay where they are when the vector grows. */
		strvec_push(&app->messages, value);
		take_out(value);
		*(const char **)variable = app->messages.items[app->messages.count - 1];
		return 0;
	case OPTION_LIST:
		strvec_push(variable, value);
		return 0;
	case OPTION_NUMBER:
		return set_number(option, value, variable, err);
	case OPTION_CHOICE:
		return set_choice(option, value, variable, err);
	case OPTION_LIMIT:
		return set_limit(option, value, variable, err);
	}
	return 0;
}

/* "--group" of a command whose second word may be "group". */
static bool is_second_word(const struct command *command, const char *option)
{
	cleanup_app struct app one = { 0 };
	if (!command || !command->offer || !starts_with(option, "--"))
		return false;
	strvec_push(&one.operands, "");
	const struct offer offer = command->offer(&one, false);
	for (size_t i = 0; i < offer.count; i++)
		if (streq(or_empty(offer.words[i]), option + 2))
			return true;
	return false;
}

static int refuse_option(const struct parser *parser, const struct option_set *set, int letter,
			 const char *word, struct error *err)
{
	const struct command *command = parser->app->command;
	cleanup_free char *shown = visible(word);
	if (letter != ':' && is_second_word(command, word))
		return error_set(err, ERROR_USAGE,
				 "unknown option %s: omit its dashes (usage: agentdeck %s %s)",
				 shown, command_usual_name(command), command->arguments);
	return error_set(err, ERROR_USAGE,
			 letter == ':' ? "option %s requires a value: see agentdeck %s"
				       : "unknown option %s: see agentdeck %s",
			 shown, set->manual);
}

/* The operands follow from argv[optind] on. */
static int read_options(const struct parser *parser, const struct option_set *set, int argc,
			char *argv[], struct error *err)
{
	struct app *app = parser->app;
	enum command_kind changed = COMMAND_SAME;
	optind = 0;
	opterr = 0;
	while (!app->wants_help && !app->wants_version) {
		int letter = getopt_long(argc, argv, set->letters, set->longs, NULL);
		/* musl counts a value that is missing. */
		if (optind > argc)
			optind = argc;
		if (letter == -1)
			break;
		const struct command_option *option = set_find(set, letter);
		if (!parser->place) {
			if (!option)
				return refuse_option(parser, set, letter, argv[optind - 1], err);
			if (set_variable(app, option, optarg, err) < 0)
				return -1;
			if (option->kind > changed)
				changed = option->kind;
		} else if (letter == ':') {
			parser->place->option = set_find(set, optopt);
		} else if (option && option->type == OPTION_TEXT) {
			(void)set_variable(app, option, optarg, NULL);
		}
	}
	if (app->command)
		app->kind = changed == COMMAND_SAME ? app->command->kind : changed;
	return 0;
}

/* "memory-max=1G", an option without its dashes. */
static bool lacks_dashes(const struct command *command, const char *word)
{
	const char *equal = strchr(word, '=');
	cleanup_free char *name = xstrndup(word, equal ? (size_t)(equal - word) : 0);
	for (const struct command_option *option = command->options; option && option->name;
	     option++)
		if (option->argument && streq(option->name, name))
			return true;
	return false;
}

static int check_operands(const struct app *app, struct error *err)
{
	const struct command *command = app->command;
	const char *name = command_usual_name(command);
	const struct operand_range range = command_operands(command);
	if (app->operands.count < range.least)
		return error_set(err, ERROR_USAGE,
				 "usage: agentdeck %s %s (see agentdeck %s --help)", name,
				 command->arguments, name);
	if (app->operands.count <= range.most)
		return 0;
	cleanup_free char *shown = visible(app->operands.items[range.most]);
	if (lacks_dashes(command, app->operands.items[range.most]))
		return error_set(err, ERROR_USAGE, "unexpected argument '%s': did you mean --%s?",
				 shown, shown);
	return error_set(err, ERROR_USAGE, "unexpected argument '%s' (usage: agentdeck %s%s%s)",
			 shown, name, *command->arguments ? " " : "", command->arguments);
}

/* So its output can wait for a slow reader, however long it is. */
static bool prints_file(const struct app *app)
{
	const size_t count = app->operands.count;
	return app->command->flags & WRITES_A_FILE && count > 0 &&
	       streq(app->operands.items[count - 1], "-");
}

static void make_options(struct app *app)
{
	const struct command *command = app->command;
	app->options = xcalloc(1, command->options_size + 1);
	if (command->defaults)
		memcpy(app->options, command->defaults, command->options_size);
}

/* The words behind the command; argv[0] is its last one. */
static int read_command(const struct parser *parser, int argc, char *argv[], struct error *err)
{
	struct app *app = parser->app;
	const struct command *command = app->command;
	cleanup_free char *manual = xasprintf("%s --help", command_usual_name(command));
	struct option_set set = { .manual = manual, .letters = ":" };
	int end = argc;

	app->json &= (command->flags & HAS_JSON) != 0;
	set_add(&set, command->options);
	set_add(&set, command_json_options(command));
	set_add(&set, command->flags & TAKES_SEVERAL ? worker_options : NULL);
	set_add(&set, common_options);
	make_options(app);
	for (int i = 1; (command->flags & HAS_REST || parser->place) && i < argc && end == argc;
	     i++)
		if (streq(argv[i], "--"))
			end = i;
	for (int i = end + 1; i < argc; i++)
		strvec_push(&app->rest, argv[i]);
	if (read_options(parser, &set, end, argv, err) < 0)
		return -1;
	for (int i = optind; i < end; i++)
		strvec_push(&app->operands, argv[i]);
	if (parser->place) {
		parser->place->is_rest = end < argc;
		return 0;
	}
	if (app->wants_help)
		return 0;
	if (check_operands(app, err) < 0)
		return -1;
	if (prints_file(app))
		app->kind = COMMAND_READS;
	/* The operands are copies already. */
	for (size_t i = command_operands(command).least;
	     command->flags & HAS_MESSAGE && i < app->operands.count; i++)
		take_out(argv[optind + (int)i]);
	return 0;
}

/* The options that may precede the next word.  Afterwards argv[0] is that word; NULL: there is
 * none. */
static int skip_options(const struct parser *parser, const struct option_set *set, int *argc,
			char **argv[], struct error *err)
{
	if (read_options(parser, set, *argc, *argv, err) < 0)
		return -1;
	*argc -= optind;
	*argv += optind;
	return 0;
}

/* The words behind the first of several commands' names; argv[0] is that name. */
static int read_family(const struct parser *parser, int argc, char *argv[], struct error *err)
{
	struct app *app = parser->app;
	struct option_set set = { .manual = "help", .letters = "+:" };
	const char *family = argv[0];

	set_add(&set, common_options);
	if (skip_options(parser, &set, &argc, &argv, err) < 0)
		return -1;
	if (argc == 0 || app->wants_help) {
		app->family = family;
		return 0;
	}
	cleanup_free char *name = xasprintf("%s %s", family, argv[0]);
	app->command = command_named(name);
	return app->command ? read_command(parser, argc, argv, err)
			    : command_refuse(family, argv[0], err);
}

static int read_line(const struct parser *parser, int argc, char *argv[], struct error *err)
{
	struct app *app = parser->app;
	struct option_set set = { .manual = "help", .letters = "+:" };

	set_add(&set, global_options);
	if (skip_options(parser, &set, &argc, &argv, err) < 0)
		return -1;
	app->command_at = (size_t)optind - 1;
	if (app->wants_help || app->wants_version || (argc == 0 && parser->place))
		return 0;
	char without[] = WITHOUT_COMMAND, *alone[] = { without, NULL };
	if (argc == 0) {
		app->is_bare = true;
		argc = 1;
		argv = alone;
	}
	app->command = command_named(argv[0]);
	if (app->command)
		return read_command(parser, argc, argv, err);
	if (command_is_family(argv[0]))
		return read_family(parser, argc, argv, err);
	app->wants_version = streq(argv[0], "version");
	return app->wants_version ? 0 : command_refuse(NULL, argv[0], err);
}

int parse_command_line(struct app *app, int argc, char *argv[], struct error *err)
{
	const struct parser parser = { .app = app };
	if (read_line(&parser, argc, argv, err) < 0)
		return -1;
	const struct command *other = app->command && app->command->instead
					      ? app->command->instead(app)
					      : NULL;
	if (other && !app->wants_help) {
		free(app->options);
		app->command = other;
		/* The caller asks for the end of the command that it named. */
		app->kind = app->once ? app->kind : other->kind;
		make_options(app);
	}
	return 0;
}

void parse_unfinished(struct app *app, int argc, char *argv[], struct parse_place *ret)
{
	const struct parser parser = { .app = app, .place = ret };
	*ret = (struct parse_place){ 0 };
	ret->is_lost = read_line(&parser, argc, argv, NULL) < 0;
}
