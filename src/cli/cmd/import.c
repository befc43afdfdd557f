/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command line of a command that is used once: agentdeck-import carries it out, so that no
 * other command loads the readers of other programs' files.
 */
#include "cli/cmd/commands.h"
#include "cli/cmd/importopts.h"

#include "base/helper.h"

struct options {
	struct import_options import;
};

static const struct command_option options[] = {
	{ 0, "apply", NULL, "do it; without this it only shows what it would do",
	  TO_FLAG(import.apply) },
	{ 0, "from", "PATH", "where the other program has its files",
	  TO_VALUE(import.from, VALUE_FILE) },
	{ 0, "guess", NULL, "continue the newest conversation of a directory if none is known",
	  TO_FLAG(import.guess) },
	{ 0, "dangerous", NULL, "keep the arguments that make an agent ask for no permission",
	  TO_FLAG(import.dangerous) },
	{ 0, "again", NULL, "also what was imported before and removed since",
	  TO_FLAG(import.again) },
	{ 0, "remove-hooks", NULL,
	  "show the hooks that it left in the agents' settings, and remove them with --apply",
	  TO_FLAG(import.remove_hooks) },
	{ 0, "adopt", NULL,
	  "with --apply: end the agents that run over there, and continue their conversations here",
	  TO_FLAG(import.adopt) },
	{ 'y', "yes", NULL, "with --adopt: do not ask", TO_FLAG(import.yes) },
	{ 0, "no-start", NULL, "with --adopt: leave the sessions stopped",
	  TO_FLAG(import.no_start) },
	{ 0 },
};

static int cmd_import(struct app *app, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, app->words);
	return helper_become("agentdeck-import", &words, err);
}

static struct offer offer(const struct app *line UNUSED, bool behind_dashes)
{
	/* The names of foreign_sources. */
	static const char *const names[] = {
		"agent-deck",  "agent-of-empires",         "claude-squad",
		"directories", "tmux-assistant-resurrect", "tmux-resurrect",
	};
	if (behind_dashes)
		return (struct offer){ 0 };
	return (struct offer){ .words = names, .count = ARRAY_SIZE(names) };
}

const struct command command_import = {
	.name = "import",
	.kind = COMMAND_CHANGES,
	.arguments = "[SOURCE]",
	.summary = "make sessions of those that another program has",
	OWN_OPTIONS,
	.offer = offer,
	.flags = HAS_JSON,
	.run = cmd_import,
};
