/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/manual.h"

static char *asked_name(const struct app *app)
{
	struct strbuf name = { 0 };
	for (size_t i = 0; i < app->operands.count; i++)
		strbuf_addf(&name, "%s%s", i ? " " : "", app->operands.items[i]);
	return strbuf_take(&name);
}

static int unknown(const char *name, struct error *err)
{
	cleanup_free char *shown = visible(name);
	return error_set(err, ERROR_USAGE, "there is no command '%s': agentdeck help lists them all", shown);
}

static int explain(const struct app *app, struct error *err)
{
	cleanup_free char *name = asked_name(app);
	const struct command *command = command_named(name);
	if (!command && *name && !command_is_family(name))
		return unknown(name, err);
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
		return unknown(name, err);
	if (command)
		print_command_manual(stdout, command);
	else
		print_manual(stdout);
	return 0;
}

static int run(struct app *app, struct error *err)
{
	const char *shell = option_value(app, "completion");
	bool manual = option_given(app, "man"), complete = option_given(app, "complete");
	int wishes = manual + complete + (shell != NULL);

	if (wishes > 1 || (wishes == 1 && !manual && app->operands.count) || (!complete && app->rest.count))
		return error_set(err, ERROR_USAGE, "ask for one thing: a command, --man, --completion or "
				 "--complete");
	if (shell)
		return print_completion(stdout, shell, err);
	if (complete)
		return print_candidates(stdout, app, &app->rest, err);
	return manual ? show_manual(app, err) : explain(app, err);
}

static const struct command_option options[] = {
	{ 0, "man", NULL, "print the manual page, or that of COMMAND, for man -l -" },
	{ 0, "completion", "SHELL", "print the completion script for bash, zsh or fish" },
	{ 0, "complete", NULL, "print what can stand as the last word behind --, for those scripts" },
	{ 0 },
};

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND...]",
	.summary = "explain agentdeck, or one command",
	.description =
		"COMMAND may also be the first word of several: agentdeck help session lists those.\n\n"
		"The manual pages and the completion scripts are made from the same table as this help, and\n"
		"make install puts them where man and the shells look. Without an installation:\n\n"
		"  source <(agentdeck help --completion bash)",
	.options = options,
	.max_operands = 3,
	.flags = HAS_REST,
	.run = run,
};
