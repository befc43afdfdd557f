/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session exec and session shell: another program where the session's agent lives.
 */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/child.h"
#include "engine/place/place.h"

#include <errno.h>

static int run_beside(struct app *app, const struct strvec *command, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	const struct place *place;
	int status;
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0 ||
	    place_find(instance, &place, err) < 0)
		return -1;
	const char *directory = instance_launch_directory(instance);
	if (place->exec_argv(instance, command, &argv, err) < 0) {
		cleanup_free char *title = visible(instance->title);
		return error_prefix(err, "%s", title);
	}
	if (chdir(directory) < 0)
		return error_set_errno(err, errno, "enter %s", directory);
	int r = child_foreground((const char *const *)argv.items, NULL, NULL, &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_NOT_FOUND, "%s is not installed", argv.items[0]);
	return r < 0 ? -1 : status;
}

static int run_exec(struct app *app, struct error *err)
{
	if (!app->rest.count)
		return error_set(err, ERROR_USAGE,
				 "which command? Name it after --: agentdeck session exec %s -- "
				 "COMMAND",
				 app->operands.items[0]);
	return run_beside(app, &app->rest, err);
}

static int run_shell(struct app *app, struct error *err)
{
	return run_beside(app, &(const struct strvec){ 0 }, err);
}

static struct offer offer_program(const struct app *line, bool behind_dashes)
{
	struct offer offer = { 0 };
	if (behind_dashes && line->rest.count == 0)
		offer.kind = VALUE_PROGRAM;
	return offer;
}

const struct command command_session_exec = {
	.name = "session exec",
	.arguments = "SESSION -- COMMAND [ARG...]",
	.summary = "run a command beside the agent, also in its container",
	.flags = NEEDS_SESSION | HAS_REST,
	.run = run_exec,
	.offer = offer_program,
};

const struct command command_session_shell = {
	.name = "session shell",
	.arguments = "SESSION",
	.summary = "open a shell beside the agent, also in its container",
	.flags = NEEDS_SESSION,
	.run = run_shell,
};
