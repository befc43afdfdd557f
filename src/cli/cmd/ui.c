/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/plain.h"
#include "cli/show/output.h"

#include "base/helper.h"

#define PROGRAM "agentdeck-ui"

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The terminal can only show lines, or nothing is known of it. */
static bool is_dumb(void)
{
	const char *kind = getenv("TERM");
	return is_empty(kind) || streq(kind, "dumb");
}

/* The agentdeck of another host has its own deck, or lists its sessions. */
static bool is_elsewhere(const struct app *app)
{
	const char *host = app->host ? app->host : getenv(REMOTE_VARIABLE);
	return !is_empty(host) && !streq(host, REMOTE_HERE);
}

static bool is_possible(const struct app *app)
{
	cleanup_free char *own = helper_own_program(), *program = NULL;
	return has_terminal() &&
	       (is_elsewhere(app) ||
		(helper_find(own, PROGRAM, &program, NULL) == 0 && access(program, X_OK) == 0));
}

struct options {
	bool plain;
};

static const struct command_option options[] = {
	{ 0, "plain", NULL, "in lines, for screen readers: numbers, and commands to type",
	  TO_FLAG(plain) },
	{ 0 },
};

static const struct command *instead(const struct app *app)
{
	const struct options *given = app->options;
	if (app->is_bare && is_dumb())
		return &command_list;
	if (given->plain || is_possible(app) || (!app->is_bare && !has_terminal()))
		return NULL;
	return &command_list;
}

static int cmd_ui(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec words = { 0 };
	if (given->plain)
		return plain_run(app, err);
	if (!has_terminal())
		return error_set(err, ERROR_USAGE,
				 "the deck needs a terminal: use agentdeck list, or agentdeck ui "
				 "--plain");
	settle_terminal();
	if (app->profile)
		strvec_push_array(&words, (const char *const[]){ "--profile", app->profile, NULL });
	return give_terminal(app, PROGRAM, &words, err);
}

const struct command command_ui = {
	.name = "ui",
	.kind = COMMAND_TERMINAL,
	.arguments = "",
	.summary = "show the sessions on the whole terminal",
	OWN_OPTIONS,
	.instead = instead,
	.run = cmd_ui,
};
