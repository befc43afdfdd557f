/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/core/command.h"

#include "base/nearest.h"
#include "engine/deck/hint.h"
#include "engine/run/undo.h"

#include <limits.h>
#include <string.h>

#define SESSION_FAMILY "session"

#define OPTION_PROFILE                                                                            \
	{                                                                                         \
		'p', "profile", "PROFILE", "work on this profile's sessions, not on \"default\"", \
			TO_APP_TEXT(profile)                                                      \
	}

const struct command_option global_options[] = {
	OPTION_PROFILE,
	{ 'H', "host", "HOST", "run the command on this host of config.toml", TO_APP_TEXT(host) },
	{ 0, "once", "ID", "run it at most once with this ID (see agentdeck once --help)",
	  TO_APP_TEXT(once), .is_hidden = true },
	{ 0, "size", "COLUMNSxROWS", "of a start: the terminal of its user", TO_APP_TEXT(size),
	  .is_hidden = true },
	{ 0, "seat", "ID", "of attach: who attaches, also after the link was lost",
	  TO_APP_TEXT(seat), .is_hidden = true },
	{ 0, "via", "HOST", "what its user calls this host", TO_APP_TEXT(via), .is_hidden = true },
	{ 'v', "version", NULL, "print the version", TO_APP_FLAG(wants_version) },
	{ 'h', "help", NULL, "print a summary of the commands", TO_APP_FLAG(wants_help) },
	{ 0 },
};

static const struct command_option json_value_options[] = {
	{ 0, "json", NULL, "print JSON: one value", TO_APP_FLAG(json) },
	{ 0 },
};

static const struct command_option json_several_options[] = {
	{ 0, "json", NULL, "print JSON: one value; for several sessions one object on each line",
	  TO_APP_FLAG(json) },
	{ 0 },
};

static const struct command_option json_lines_options[] = {
	{ 0, "json", NULL, "print JSON: one object on each line", TO_APP_FLAG(json) },
	{ 0 },
};

const struct command_option worker_options[] = {
	{ 0, "instance", "BASE", "this one, and no other", TO_APP_TEXT(instance) },
	{ 0 },
};

const struct command_option common_options[] = {
	OPTION_PROFILE,
	{ 'h', "help", NULL, "print this help", TO_APP_FLAG(wants_help) },
	{ 0 },
};

const char *command_kind_name(enum command_kind kind)
{
	static const char *const names[COMMAND_KINDS] = {
		[COMMAND_READS] = "reads",       [COMMAND_CHANGES] = "changes",
		[COMMAND_FOLLOWS] = "follows",   [COMMAND_TERMINAL] = "terminal",
		[COMMAND_INTERNAL] = "internal",
	};
	return names[kind];
}

static const struct {
	const char *word, *name;
} unix_names[] = {
	{ "ls", "list" },
	{ "rm", "remove" },
	{ "mv", "rename" },
};

/* "import" is another command than "session import". */
static bool is_a_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (streq(commands[i]->name, word))
			return true;
	return false;
}

const char *command_short_form(const struct command *command, size_t index)
{
	if (command_is_in(command, SESSION_FAMILY)) {
		const char *word = command->name + strlen(SESSION_FAMILY " ");
		if (!is_a_command(word) && index-- == 0)
			return word;
	}
	for (size_t i = 0; i < ARRAY_SIZE(unix_names); i++)
		if (streq(unix_names[i].name, command->name) && index-- == 0)
			return unix_names[i].word;
	return NULL;
}

const char *command_usual_name(const struct command *command)
{
	const char *form = command_short_form(command, 0);
	return form && command_is_in(command, SESSION_FAMILY) ? form : command->name;
}

static bool has_name(const struct command *command, const char *name)
{
	const char *form;
	if (streq(command->name, name))
		return true;
	for (size_t i = 0; (form = command_short_form(command, i)); i++)
		if (streq(form, name))
			return true;
	return false;
}

const struct command_option *command_json_options(const struct command *command)
{
	if (!(command->flags & HAS_JSON))
		return NULL;
	if (command->flags & TAKES_SEVERAL)
		return json_several_options;
	return command->flags & JSON_LINES ? json_lines_options : json_value_options;
}

const struct command *command_named(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (has_name(commands[i], name))
			return commands[i];
	return NULL;
}

static void consider_command(struct nearest *nearest, const struct command *command)
{
	const char *space = strchr(command->name, ' '), *form;
	if (space) {
		cleanup_free char *first = xstrndup(command->name, (size_t)(space - command->name));
		nearest_consider(nearest, first, first);
	}
	if (!space || !command_named(space + 1))
		nearest_consider(nearest, space ? space + 1 : command->name, command->name);
	for (size_t i = 0; (form = command_short_form(command, i)); i++)
		nearest_consider(nearest, form, form);
}

/* The word of another program for a command of ours. */
static const char *usual_name(const char *word)
{
	static const struct {
		const char *word, *name;
	} usual[] = {
		{ "new", "launch" },   { "create", "launch" }, { "run", "launch" },
		{ "kill", "stop" },    { "delete", "remove" }, { "open", "attach" },
		{ "resume", "start" }, { "ps", "list" },       { "exile", "eject" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (streq(word, usual[i].word))
			return usual[i].name;
	return NULL;
}

int command_refuse(const char *family, const char *word, struct error *err)
{
	cleanup_nearest struct nearest nearest = nearest_begin(word);
	cleanup_free char *shown = visible(word);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->kind == COMMAND_INTERNAL)
			continue;
		if (!family)
			consider_command(&nearest, commands[i]);
		else if (command_is_in(commands[i], family))
			nearest_consider(&nearest, commands[i]->name + strlen(family) + 1,
					 commands[i]->name);
	}
	const char *usual = family ? NULL : usual_name(word);
	cleanup_free char *meant = usual ? xasprintf("'%s'", usual)
					 : nearest_text(&nearest, SIZE_MAX);
	if (meant)
		return error_set(err, ERROR_NOT_FOUND, "unknown %s%scommand '%s'; did you mean %s?",
				 or_empty(family), family ? " " : "", shown, meant);
	return error_set(err, ERROR_NOT_FOUND,
			 "unknown %s%scommand '%s': 'agentdeck help%s%s' lists the commands",
			 or_empty(family), family ? " " : "", shown, family ? " " : "",
			 or_empty(family));
}

bool command_is_in(const struct command *command, const char *word)
{
	return starts_with(command->name, word) && command->name[strlen(word)] == ' ';
}

bool command_is_family(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (command_is_in(commands[i], word))
			return true;
	return false;
}

/* A word in brackets may be left out, one with dots may be repeated, and what follows "--" is no
 * operand. */
struct operand_range command_operands(const struct command *command)
{
	struct operand_range range = { 0 };
	for (const char *word = command->arguments; *word;) {
		const size_t length = strcspn(word, " ");
		if (starts_with(word + strspn(word, "["), "--"))
			break;
		range.least += *word != '[';
		range.most = memmem(word, length, "...", 3) ? UINT_MAX : range.most + 1;
		word += length + strspn(word + length, " ");
	}
	return range;
}

/* The lists among the command's own options. */
static void clear_lists(struct app *app)
{
	const struct command_option *option = app->command && app->options ? app->command->options
									   : NULL;
	for (; option && option->name; option++)
		if (option->type == OPTION_LIST && !option->is_of_app)
			strvec_clear((void *)((char *)app->options + option->offset));
}

void app_free(struct app *app)
{
	clear_lists(app);
	free(app->options);
	free(app->question);
	strvec_clear(&app->operands);
	strvec_clear(&app->rest);
	strvec_clear(&app->messages);
	strvec_clear(&app->named);
	store_rows_free(&app->rows);
	deck_close(&app->deck);
}

static bool has_title(const struct store_rows *rows, const char *title)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!rows->rows[i].damage && streq(rows->rows[i].title, title))
			return true;
	return false;
}

/* The first profile but this one with a session of this title; NULL: none.  The caller frees. */
static char *profile_with(const struct app *app, const char *title)
{
	cleanup_strvec struct strvec profiles = { 0 };
	if (deck_profiles(&app->deck, &profiles, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < profiles.count; i++) {
		cleanup_store struct store *store = NULL;
		cleanup_store_rows struct store_rows rows = { 0 };
		const char *name = profiles.items[i];
		if (!streq(name, app->deck.profile) &&
		    deck_open_profile(&app->deck, name, &store, NULL) == 0 &&
		    store_list(store, &rows, NULL) == 0 && has_title(&rows, title))
			return xstrdup(name);
	}
	return NULL;
}

int app_find(struct app *app, const struct store_rows *rows, const char *target,
	     const struct store_row **ret, struct error *err)
{
	cleanup_error struct error failure = { 0 };
	if (store_resolve(rows, target, ret, &failure) == 0)
		return 0;
	if (failure.code != ERROR_NOT_FOUND)
		return error_move(err, &failure);
	cleanup_free char *profile = profile_with(app, target);
	cleanup_free char *shown = visible(target);
	if (!profile && undo_can(&app->deck, target)) {
		cleanup_free char *named = hint_named(app->deck.profile, target);
		return error_set(err, ERROR_NOT_FOUND,
				 "no session has the title, the id or the directory \"%s\"; one "
				 "was removed: agentdeck undo %s",
				 shown, named);
	}
	if (!profile)
		return error_move(err, &failure);
	return error_set(err, ERROR_NOT_FOUND,
			 "profile %s has no session '%s', but profile %s has one: add -p %s",
			 app->deck.profile, shown, profile, profile);
}

int app_resolve(struct app *app, const char *target, struct store_rows *rows,
		const struct store_row **ret, struct error *err)
{
	if (store_list(app->deck.store, rows, err) < 0)
		return -1;
	return app_find(app, rows, target, ret, err);
}
