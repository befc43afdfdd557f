/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

static int run(struct app *app, struct error *err)
{
	cleanup_strbuf struct strbuf name = { 0 };
	if (app->operands.count == 0) {
		print_help(stdout, NULL);
		return 0;
	}
	for (size_t i = 0; i < app->operands.count; i++)
		strbuf_addf(&name, "%s%s", i ? " " : "", app->operands.items[i]);
	for (size_t i = 0; commands[i]; i++) {
		if (streq(commands[i]->name, strbuf_text(&name))) {
			print_help(stdout, commands[i]);
			return 0;
		}
	}
	cleanup_free char *shown = visible(strbuf_text(&name));
	return error_set(err, ERROR_USAGE, "there is no command '%s': agentdeck help lists them all", shown);
}

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "explain agentdeck, or one command",
	.description = "",
	.max_operands = 3,
	.run = run,
};
