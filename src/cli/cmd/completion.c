/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/help/help.h"

static int cmd_completion(struct app *app, struct error *err)
{
	const char *name = app->operands.items[0];
	for (size_t i = 0; i < SHELL_COUNT; i++) {
		if (!streq(shell_words[i], name))
			continue;
		print_completion(stdout, (enum shell)i);
		return 0;
	}
	cleanup_free char *shown = visible(name);
	return error_set(err, ERROR_USAGE, "no completion for '%s' (shells: bash, zsh, fish)",
			 shown);
}

static struct offer offer(const struct app *line UNUSED, bool behind_dashes UNUSED)
{
	return (struct offer){ .words = shell_words, .count = SHELL_COUNT };
}

const struct command command_completion = {
	.name = "completion",
	.kind = COMMAND_READS,
	.arguments = "SHELL",
	.summary = "print the completion script for bash, zsh or fish",
	.flags = IS_OF_PROGRAM,
	.run = cmd_completion,
	.offer = offer,
};
