/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_instance struct instance *fork = NULL;
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    lifecycle_fork(&app->deck, row->base, option_value(app, "title"), option_value(app, "group"),
			   &fork, err) < 0)
		return -1;
	if (option_given(app, "no-start")) {
		cleanup_json struct json_object *object = json_success(fork);
		cleanup_free char *title = visible(fork->title);
		if (app->json)
			print_json(object);
		else
			printf("%s (%s): made; it is started with: agentdeck session start %s\n", title, fork->id,
			       fork->id);
		return 0;
	}
	int r = run_start(app, fork->base, false, true, !option_given(app, "no-wait"), err);
	if (r == 0 && option_given(app, "attach") && !app->json)
		return run_attach(app, fork->base, err);
	return r;
}

static const struct command_option options[] = {
	{ 't', "title", "TITLE", "its title; without it SESSION's with -fork behind" },
	{ 'g', "group", "GROUP", "a group to list it under; without it SESSION's" },
	{ 0, "no-start", NULL, "make it, and start it later" },
	{ 0, "no-wait", NULL, "return when the session is durable, without waiting for the agent" },
	{ 'a', "attach", NULL, "and attach to it" },
	{ 0 },
};

const struct command command_session_fork = {
	.name = "session fork",
	.arguments = "SESSION",
	.summary = "begin another session with a copy of a session's conversation",
	.description =
		"The agent makes the copy, where it can; SESSION goes on as it is, running or not.  Both have the\n"
		"same directory: use it to try something out, or to go two ways from one point.",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
