/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/help.h"
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

struct options {
	bool all, man, complete;
};

static const struct command_option options[] = {
	{ 'a', "all", NULL, "list all commands, with the internal ones", TO_FLAG(all) },
	{ 0, "man", NULL, "print the manual page, or that of COMMAND, for man -l -", TO_FLAG(man) },
	{ 0, "complete", NULL,
	  "print what can be the last word behind --; completion in the shells calls it",
	  TO_FLAG(complete) },
	{ 0 },
};

static char *asked_name(const struct app *app)
{
	struct strbuf name = { 0 };
	for (size_t i = 0; i < app->operands.count; i++)
		strbuf_addf(&name, "%s%s", i ? " " : "", app->operands.items[i]);
	return strbuf_take(&name);
}

/* The first words that name a command; 0: none do. */
static size_t words_of_command(const struct strvec *words)
{
	cleanup_strbuf struct strbuf name = { 0 };
	size_t found = 0;
	for (size_t i = 0; i < words->count; i++) {
		strbuf_addf(&name, "%s%s", i ? " " : "", words->items[i]);
		if (command_named(strbuf_text(&name)))
			found = i + 1;
	}
	return found;
}

static int unknown(const struct app *app, struct error *err)
{
	const struct strvec *words = &app->operands;
	const bool is_second = words->count > 1 && command_is_family(words->items[0]);
	const size_t known = words_of_command(words);
	cleanup_free char *shown = known ? visible(words->items[known]) : NULL;
	if (known)
		return error_set(err, ERROR_USAGE,
				 "unexpected argument '%s': help explains one command", shown);
	return is_second ? command_refuse(words->items[0], words->items[1], err)
			 : command_refuse(NULL, words->items[0], err);
}

static int explain(const struct app *app, struct error *err)
{
	cleanup_free char *name = asked_name(app);
	const struct command *command = command_named(name);
	if (!command && *name && !command_is_family(name))
		return unknown(app, err);
	if (!command && *name)
		print_family(stdout, name);
	else
		print_help(stdout, command);
	return 0;
}

static int show_manual(const struct app *app, struct error *err)
{
	cleanup_free char *name = asked_name(app);
	const struct command *command = command_named(name);
	if (!command && *name)
		return unknown(app, err);
	if (command)
		print_command_manual(stdout, command);
	else
		print_manual(stdout);
	return 0;
}

/* The command of this name, or those of a family; NULL: all, and with is_whole the internal ones. */
static void print_table(const char *name, bool is_whole)
{
	const struct command *only = command_named(or_empty(name));
	size_t count = 0;
	for (size_t i = 0; commands[i]; i++) {
		const bool is_named = !name || commands[i] == only ||
				      command_is_in(commands[i], name);
		if (!is_named || (commands[i]->kind == COMMAND_INTERNAL && !is_whole && !only))
			continue;
		cleanup_json struct json_object *object = json_of_command(commands[i]);
		print_json_element(object, count++);
	}
	print_json_end(count);
}

static int show_table(const struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *name = asked_name(app);
	if (given->man || given->complete)
		return error_set(err, ERROR_USAGE,
				 "--json is for the commands, not for their texts");
	if (*name && !command_named(name) && !command_is_family(name))
		return unknown(app, err);
	print_table(*name ? name : NULL, given->all);
	return 0;
}

static int cmd_help(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const int wishes = given->all + given->man + given->complete;

	if (wishes > 1 || (wishes == 1 && !given->man && app->operands.count) ||
	    (!given->complete && app->rest.count))
		return error_set(err, ERROR_USAGE,
				 "ask for one thing: a command, --all, --man or --complete");
	if (app->json)
		return show_table(app, err);
	if (given->all) {
		print_all_help(stdout);
		return 0;
	}
	if (given->complete)
		return print_candidates(stdout, app, &app->rest, err);
	return given->man ? show_manual(app, err) : explain(app, err);
}

const struct command command_help = {
	.name = "help",
	.kind = COMMAND_READS,
	.arguments = "[COMMAND...]",
	.summary = "explain agentdeck, or one command",
	OWN_OPTIONS,
	.flags = HAS_REST | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_help,
};
