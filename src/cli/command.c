/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include "base/log.h"
#include "cli/manual.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

const char *option_value(const struct app *app, const char *name)
{
	const struct command_option *options = app->command->options;
	for (size_t i = 0; options && options[i].name; i++)
		if (streq(options[i].name, name))
			return app->values[i];
	return NULL;
}

bool option_given(const struct app *app, const char *name)
{
	return option_value(app, name) != NULL;
}

int app_resolve(struct app *app, const char *target, struct store_rows *rows,
		const struct store_row **ret, struct error *err)
{
	if (store_list(app->deck.store, rows, err) < 0)
		return -1;
	return store_resolve(rows, target, ret, err);
}

void print_json(struct json_object *object)
{
	cleanup_free char *text = json_shown(json_print(object));
	puts(text);
}

void print_warnings(struct app *app)
{
	for (size_t i = 0; i < app->deck.warnings.count; i++) {
		cleanup_free char *shown = visible(app->deck.warnings.items[i]);
		fprintf(stderr, "agentdeck: warning: %s\n", shown);
	}
	strvec_clear(&app->deck.warnings);
}

/* How many words of argv name this command: 0 when they do not. */
static int match_words(const struct command *command, int argc, char *argv[])
{
	cleanup_free char *name = xstrdup(command->name);
	char *rest = name;
	int count = 0;
	for (const char *word; (word = strsep(&rest, " ")); count++)
		if (count >= argc || !streq(argv[count], word))
			return 0;
	return count;
}

static const struct command *find_command(int argc, char *argv[], int *ret_words)
{
	const char *alias = NULL;
	for (size_t i = 0; command_aliases[i].word; i++)
		if (streq(argv[0], command_aliases[i].word))
			alias = command_aliases[i].name;
	for (size_t i = 0; commands[i]; i++) {
		int words = alias ? streq(commands[i]->name, alias) : match_words(commands[i], argc, argv);
		if (words) {
			*ret_words = words;
			return commands[i];
		}
	}
	return NULL;
}

/* Words that start like what was typed, for "did you mean". */
static int unknown_command(int argc, char *argv[], struct error *err)
{
	cleanup_strbuf struct strbuf near = { 0 };
	cleanup_free char *shown = visible(argv[0]);
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		bool family = starts_with(name, argv[0]) && name[strlen(argv[0])] == ' ';
		if (!(commands[i]->flags & IS_HIDDEN) &&
		    (family || strncmp(name, argv[0], 2) == 0 || ends_with(name, argv[0])))
			strbuf_addf(&near, "%s%s", near.length ? ", " : "", name);
	}
	(void)argc;
	return error_set(err, ERROR_USAGE, "unknown command '%s'%s%s: agentdeck help lists them all", shown,
			 near.length ? ", did you mean: " : "", strbuf_text(&near));
}

static void build_getopt(const struct command *command, struct strbuf *letters,
			 struct option *longs)
{
	size_t count = 0;
	strbuf_adds(letters, ":h");
	for (size_t i = 0; command->options && command->options[i].name; i++) {
		const struct command_option *option = &command->options[i];
		longs[count++] = (struct option){ option->name,
						  option->argument ? required_argument : no_argument,
						  NULL, 1000 + (int)i };
		if (option->letter)
			strbuf_addf(letters, "%c%s", option->letter, option->argument ? ":" : "");
	}
	if (command->flags & HAS_JSON)
		longs[count++] = (struct option){ json_options[0].name, no_argument, NULL, 'J' };
	longs[count++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[count] = (struct option){ 0 };
}

static int option_index(const struct command *command, int letter)
{
	if (letter >= 1000)
		return letter - 1000;
	for (int i = 0; command->options && command->options[i].name; i++)
		if (command->options[i].letter == letter)
			return i;
	return -1;
}

enum { SHOW_HELP = 1 };

static int parse_options(struct app *app, int argc, char *argv[], struct error *err)
{
	const struct command *command = app->command;
	cleanup_strbuf struct strbuf letters = { 0 };
	struct option longs[COMMAND_MAX_OPTIONS + 4];
	int end = argc;

	for (int i = 1; command->flags & HAS_REST && i < argc && end == argc; i++)
		if (streq(argv[i], "--"))
			end = i;
	for (int i = end + 1; i < argc; i++)
		strvec_push(&app->rest, argv[i]);
	build_getopt(command, &letters, longs);
	optind = 0;
	opterr = 0;
	for (int c; (c = getopt_long(end, argv, letters.data, longs, NULL)) != -1;) {
		if (c == 'h')
			return SHOW_HELP;
		if (c == 'J') {
			app->json = true;
			continue;
		}
		int index = option_index(command, c);
		if (index < 0) {
			cleanup_free char *shown = visible(argv[optind - 1]);
			return error_set(err, ERROR_USAGE, c == ':' ? "%s wants a value: see agentdeck %s "
					 "--help" : "unknown option %s: see agentdeck %s --help", shown,
					 command->name);
		}
		app->values[index] = optarg ? optarg : "";
	}
	for (int i = optind; i < end; i++)
		strvec_push(&app->operands, argv[i]);
	if (app->operands.count < command->min_operands)
		return error_set(err, ERROR_USAGE, "usage: agentdeck %s %s", command->name,
				 command->arguments);
	if (app->operands.count > command->max_operands) {
		cleanup_free char *shown = visible(app->operands.items[command->max_operands]);
		return error_set(err, ERROR_USAGE, "one word too many: '%s' (usage: agentdeck %s %s)", shown,
				 command->name, command->arguments);
	}
	return 0;
}

static int open_needs(struct app *app, const char *profile, struct error *err)
{
	const char *name = app->command->name;
	if (!(app->command->flags & (NEEDS_DECK | NEEDS_STORE)))
		return 0;
	if (deck_open(profile, path_basename(strrchr(name, ' ') ? strrchr(name, ' ') + 1 : name),
		      &app->deck, err) < 0)
		return -1;
	/* Whoever calls us from a new login hands that login's SSH agent to the sessions. */
	deck_refresh_ssh_agent(&app->deck);
	return app->command->flags & NEEDS_STORE ? deck_open_store(&app->deck, err) : 0;
}

static int report_error(const struct app *app, struct error *err)
{
	int status = error_exit_status(err->code);
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_bool(object, "success", false);
		json_set_string(object, "error", err->message);
		json_set_string(object, "code", error_code_name(err->code));
		print_json(object);
	} else {
		/* Names of files and directories are in it, and whoever made a repository chose those. */
		cleanup_free char *shown = visible(err->message);
		fprintf(stderr, "agentdeck: %s\n", shown);
	}
	return status;
}

static int run_command(struct app *app, int argc, char *argv[], const char *profile)
{
	cleanup_error struct error err = { 0 };
	app->profile = profile;
	int r = parse_options(app, argc, argv, &err);
	if (r == SHOW_HELP) {
		print_help(stdout, app->command);
		return 0;
	}
	if (r == 0)
		r = open_needs(app, profile, &err);
	if (r == 0)
		r = app->command->run(app, &err);
	print_warnings(app);
	if (r < 0) {
		log_error("%s: %s", app->command->name, err.message);
		r = report_error(app, &err);
	}
	/* A full disk or a closed pipe must not look like success, nor when it was so only for a while. */
	errno = 0;
	if ((fflush(stdout) != 0 || ferror(stdout)) && r == 0) {
		fprintf(stderr, "agentdeck: standard output: %s\n", errno ? strerror(errno) : "a part was not written");
		r = 1;
	}
	return r;
}

/* Options before the command.  Returns how many words they take, or -1. */
static int parse_globals(int argc, char *argv[], const char **ret_profile, struct error *err)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (streq(argv[i], "-p") || streq(argv[i], "--profile")) {
			if (++i == argc)
				return error_set(err, ERROR_USAGE, "%s wants a name", argv[i - 1]);
			*ret_profile = argv[i];
		} else if (starts_with(argv[i], "--profile=")) {
			*ret_profile = argv[i] + strlen("--profile=");
		} else if (streq(argv[i], "--version") || streq(argv[i], "-v") ||
			   streq(argv[i], "--help") || streq(argv[i], "-h")) {
			break;
		} else {
			cleanup_free char *shown = visible(argv[i]);
			return error_set(err, ERROR_USAGE, "unknown option %s: see agentdeck help", shown);
		}
	}
	return i - 1;
}

int command_main(int argc, char *argv[])
{
	struct app app = { 0 };
	cleanup_error struct error err = { 0 };
	const char *profile = NULL;
	const char *no_color = getenv("NO_COLOR");
	int words = 0;

	app.color = isatty(STDOUT_FILENO) && is_empty(no_color);
	for (int i = 1; i < argc && !streq(argv[i], "--"); i++)
		app.json |= streq(argv[i], "--json");
	int skip = parse_globals(argc, argv, &profile, &err);
	if (skip < 0)
		return report_error(&app, &err);
	argc -= skip + 1;
	argv += skip + 1;
	if (argc == 0 || streq(argv[0], "--help") || streq(argv[0], "-h")) {
		print_help(argc ? stdout : stderr, NULL);
		return argc ? 0 : error_exit_status(ERROR_USAGE);
	}
	if (streq(argv[0], "--version") || streq(argv[0], "-v") || streq(argv[0], "version")) {
		printf("agentdeck %s\n", PACKAGE_VERSION);
		return 0;
	}
	app.command = find_command(argc, argv, &words);
	if (!app.command && command_is_family(argv[0]) &&
	    (argc == 1 || streq(argv[1], "--help") || streq(argv[1], "-h"))) {
		print_family(argc == 1 ? stderr : stdout, argv[0]);
		return argc == 1 ? error_exit_status(ERROR_USAGE) : 0;
	}
	if (!app.command) {
		unknown_command(argc, argv, &err);
		return report_error(&app, &err);
	}
	app.json &= (app.command->flags & HAS_JSON) != 0;
	int r = run_command(&app, argc - words + 1, argv + words - 1, profile);
	strvec_clear(&app.operands);
	strvec_clear(&app.rest);
	deck_close(&app.deck);
	return r;
}
