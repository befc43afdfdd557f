/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session exec and session shell: another program where the session's agent lives.
 */
#include "cli/cmd/commands.h"

#include "base/child.h"
#include "base/clock.h"
#include "engine/place/place.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

enum { REACH_MS = 10000 /* an engine under load */ };

/* The context of may_go_on(), which runs when the command should be running. */
struct reach {
	const struct place_exec *exec;
	bool has_failed;
};

static bool may_go_on(void *data)
{
	struct reach *reach = data;
	/* The command runs only if it removes the ticket first.  If we remove it, it never runs. */
	reach->has_failed = reach->exec->ticket && unlink(reach->exec->ticket) == 0;
	return !reach->has_failed;
}

static int foreground(const struct place_exec *exec, int *ret_status, struct error *err)
{
	struct reach reach = { .exec = exec };
	struct termios before;
	const bool is_terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	const struct child_watch watch = { .fd = -1,
					   .data = &reach,
					   .deadline_ms = clock_ms() + REACH_MS,
					   .may_go_on = may_go_on };
	int r = child_foreground((const char *const *)exec->argv.items, NULL, &watch, ret_status,
				 err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_NOT_FOUND, "%s is not installed", exec->argv.items[0]);
	if (r < 0 || !reach.has_failed)
		return r;
	/* The program was killed, and may have changed the terminal before. */
	if (is_terminal)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return error_set(err, ERROR_TIMEOUT,
			 "%s has not run the command within %d s, and will not run it later: see "
			 "whether the engine answers (%s info), and try again",
			 exec->by, REACH_MS / 1000, exec->by);
}

static int run_beside(struct app *app, const struct strvec *command, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_place_exec struct place_exec exec = PLACE_NO_EXEC;
	const struct place *place;
	int status;
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0 ||
	    place_find(instance, &place, err) < 0)
		return -1;
	const char *directory = instance_launch_directory(instance);
	cleanup_free char *title = visible(instance->title);
	if (place->exec(instance, command, &exec, err) < 0)
		return error_prefix(err, "%s", title);
	if (chdir(directory) < 0)
		return error_set_errno(err, errno, "enter %s", directory);
	return foreground(&exec, &status, err) < 0 ? error_prefix(err, "%s", title) : status;
}

static int cmd_session_exec(struct app *app, struct error *err)
{
	if (!app->rest.count)
		return error_set(err, ERROR_USAGE,
				 "which command? Name it after --: agentdeck session exec %s -- "
				 "COMMAND",
				 app->operands.items[0]);
	return run_beside(app, &app->rest, err);
}

static int cmd_session_shell(struct app *app, struct error *err)
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
	.kind = COMMAND_TERMINAL,
	.arguments = "SESSION -- COMMAND [ARG...]",
	.summary = "run a command beside the agent, also in its container",
	.flags = NEEDS_SESSION | HAS_REST,
	.run = cmd_session_exec,
	.offer = offer_program,
};

const struct command command_session_shell = {
	.name = "session shell",
	.kind = COMMAND_TERMINAL,
	.arguments = "SESSION",
	.summary = "open a shell beside the agent, also in its container",
	.flags = NEEDS_SESSION,
	.run = cmd_session_shell,
};
