/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attaching the terminal: a tmux client in the foreground.
 */
#include "cli/output.h"

#include "base/child.h"
#include "base/clock.h"
#include "driver/tmux.h"

#include <poll.h>
#include <signal.h>

enum { NUDGE_MS = 100 };

struct watched {
	struct process_id server, agent;
};

/* The agent has ended.  tmux before 3.5 may have lost the news (see agentdeck-watch), and the user would
 * sit before a dead pane: nudge it until it has noticed. */
static bool on_agent_end(void *data)
{
	struct watched *watched = data;
	(void)poll(NULL, 0, NUDGE_MS);
	if (!process_is_zombie(&watched->agent))
		return false;
	(void)process_signal(&watched->server, SIGCHLD, NULL);
	return true;
}

static int check_terminal(const struct instance *instance, struct error *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_REFUSED, "attaching needs a terminal: run agentdeck attach %s "
				 "from one", instance->id);
	if (!is_empty(getenv("TMUX")))
		return error_set(err, ERROR_REFUSED, "you are inside tmux already, and one tmux in another "
				 "takes away its keys: detach first, or run: env -u TMUX agentdeck "
				 "attach %s", instance->id);
	return 0;
}

/* What became of it while we were attached. */
static void say_farewell(struct app *app, const char *base)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (store_list(app->deck.store, &rows, NULL) < 0 ||
	    store_resolve(&rows, base, &row, NULL) < 0)
		return;
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	lifecycle_view_row(row, &view);
	cleanup_free char *title = visible(row->title);
	cleanup_free char *reason = visible(or_empty(view.reason));
	if (view.state == STATE_RUNNING)
		printf("%s keeps running. Back to it: agentdeck attach %s\n", title, row->id);
	else
		printf("%s is %s%s%s. Bring it back: agentdeck start %s\n", title,
		       instance_state_name(view.state), *reason ? ", " : "", reason,
		       row->id);
}

int run_attach(struct app *app, const char *base, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_close int agent = -1;
	int status;
	int r = store_load(app->deck.store, base, &instance, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	cleanup_free char *title = visible(instance->title);
	if (!instance->run.socket)
		return error_set(err, ERROR_INVALID, "%s is not running: start it with agentdeck start %s",
				 title, instance->id);
	if (check_terminal(instance, err) < 0 || tmux_check_socket(instance->run.socket, err) < 0)
		return -1;
	struct watched watched = { .server = instance->run.server, .agent = instance->run.pane };
	if (process_open(&watched.agent, &agent, NULL) != 0)
		agent = -1;
	deck_refresh_ssh_agent(&app->deck);
	tmux_attach_argv(instance->run.socket, option_given(app, "read-only"), &argv);
	r = child_foreground((const char *const *)argv.items, NULL, agent, on_agent_end, &watched,
			     &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "tmux is not installed: install tmux 3.2 or newer");
	if (r < 0)
		return -1;
	say_farewell(app, base);
	return status == 0 ? 0 : 1;
}
