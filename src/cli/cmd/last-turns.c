/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The end of a session's conversation, for the preview of agentdeck-ui: a process beside it reads
 * the transcript.
 */
#include "cli/cmd/commands.h"
#include "cli/cmd/reply.h"
#include "model/agent/display.h"

#include <string.h>

enum { TURNS = 20 };

/* What the user typed is behind "> ".  Each turn ends with an empty line. */
static void print_turn(const struct transcript_turn *turn)
{
	cleanup_strbuf struct strbuf clean = { 0 };
	(void)display_clean(turn->text, strlen(turn->text), &clean);
	while (clean.length && strchr(" \t\n", clean.data[clean.length - 1]))
		clean.data[--clean.length] = '\0';
	if (!clean.length)
		return;
	char *rest = clean.data;
	for (const char *line; (line = strsep(&rest, "\n"));)
		/* A quotation in a reply is not what its user typed. */
		printf("%s%s\n", !turn->is_reply ? "> " : *line == '>' ? " " : "", line);
	printf("\n");
}

static int cmd_last_turns(struct app *app, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_transcript_turns struct transcript_turns turns = { 0 };
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0)
		return -1;
	const int r = reply_turns(app, instance, TURNS, &turns, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_INVALID, "nothing has been said yet");
	for (size_t i = 0; i < turns.count; i++)
		print_turn(&turns.items[i]);
	return 0;
}

const struct command command_last_turns = {
	.name = "last-turns",
	.kind = COMMAND_INTERNAL,
	.arguments = "SESSION",
	.summary = "print the end of a conversation (agentdeck-ui calls this)",
	.flags = NEEDS_SESSION,
	.run = cmd_last_turns,
};
