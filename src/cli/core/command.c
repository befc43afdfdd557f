/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/core/command.h"

#include <limits.h>
#include <string.h>

const struct command_option global_options[] = {
	{ 'p', "profile", "PROFILE", "work on this profile's sessions, instead of \"default\"",
	  TO_APP_TEXT(profile) },
	{ 'v', "version", NULL, "print the version", TO_APP_FLAG(wants_version) },
	{ 'h', "help", NULL, "print a summary of the commands", TO_APP_FLAG(wants_help) },
	{ 0 },
};

const struct command_option json_options[] = {
	{ 0, "json", NULL, "print JSON", TO_APP_FLAG(json) },
	{ 0 },
};

const struct command_option help_options[] = {
	{ 'h', "help", NULL, "print this help", TO_APP_FLAG(wants_help) },
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

const struct command *command_find(int argc, char *const argv[], int *ret_words)
{
	const struct command *command = NULL;
	*ret_words = 0;
	if (argc > 1) {
		cleanup_free char *name = xasprintf("%s %s", argv[0], argv[1]);
		command = command_named(name);
		*ret_words = command ? 2 : 0;
	}
	if (!command && argc > 0) {
		command = command_named(argv[0]);
		*ret_words = command ? 1 : 0;
	}
	return command;
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

void app_free(struct app *app)
{
	free(app->options);
	strvec_clear(&app->operands);
	strvec_clear(&app->rest);
	strvec_clear(&app->messages);
	store_rows_free(&app->rows);
	deck_close(&app->deck);
}

int app_resolve(struct app *app, const char *target, struct store_rows *rows,
		const struct store_row **ret, struct error *err)
{
	if (store_list(app->deck.store, rows, err) < 0)
		return -1;
	return store_resolve(rows, target, ret, err);
}
