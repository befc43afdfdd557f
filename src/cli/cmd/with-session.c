/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command line that is typed in the deck, with the session under the cursor, if it is on one.
 */
#include "cli/cmd/commands.h"
#include "cli/core/parse.h"
#include "cli/show/output.h"

#include "base/argsplit.h"
#include "base/helper.h"
#include "base/program.h"

#include <errno.h>

/* How many of the words name a command whose first operand is a session; 0: none do. */
static size_t verb_of(const struct strvec *words)
{
	const struct command *command = NULL;
	cleanup_free char *two = words->count > 1
					 ? xasprintf("%s %s", words->items[0], words->items[1])
					 : NULL;
	size_t count = 2;
	if (two)
		command = command_named(two);
	if (!command && words->count) {
		command = command_named(words->items[0]);
		count = 1;
	}
	return command && (starts_with(command->arguments, "SESSION") ||
			   starts_with(command->arguments, "[SESSION"))
		       ? count
		       : 0;
}

/* Do the words name other sessions, or leave no place for one? */
static bool are_complete(const struct strvec *words)
{
	cleanup_app struct app line = { 0 };
	cleanup_strvec struct strvec copy = { 0 };
	strvec_push(&copy, "agentdeck");
	strvec_push_all(&copy, words);
	if (parse_command_line(&line, (int)copy.count, copy.items, NULL) < 0 || !line.command)
		return false;
	return line.every || line.group || line.named.count ||
	       (starts_with(line.command->arguments, "[SESSION...]") && line.operands.count) ||
	       line.operands.count >= command_operands(line.command).most;
}

static int cmd_with_session(struct app *app, struct error *err)
{
	cleanup_free char *program = helper_own_program();
	cleanup_strvec struct strvec words = { 0 }, argv = { 0 };
	const size_t verb = are_complete(&app->rest) ? 0 : verb_of(&app->rest);
	for (size_t i = 0; i < app->rest.count; i++) {
		if (verb && i == verb)
			strvec_push_all(&words, &app->operands);
		strvec_push(&words, app->rest.items[i]);
	}
	if (verb && verb == app->rest.count)
		strvec_push_all(&words, &app->operands);
	cleanup_free char *line = argjoin(strvec_argv(&words));
	say_to(stderr, xasprintf("== agentdeck %s", line));
	strvec_push(&argv, program);
	if (app->profile)
		strvec_push_array(&argv, (const char *const[]){ "--profile", app->profile, NULL });
	strvec_push_all(&argv, &words);
	(void)execv(program, strvec_argv(&argv));
	cleanup_free char *why = program_explain(program, errno);
	return error_set(err, ERROR_UNAVAILABLE, "cannot run %s: %s", program, why);
}

const struct command command_with_session = {
	.name = "with-session",
	.kind = COMMAND_INTERNAL,
	.arguments = "[SESSION] -- COMMAND [ARG...]",
	.summary = "run a command, with this session if it takes one (agentdeck-ui calls this)",
	.flags = HAS_REST,
	.run = cmd_with_session,
};
