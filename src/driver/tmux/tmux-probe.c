/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A short-lived server, to see whether tmux works.
 */
#include "driver/tmux/tmux.h"

#include "base/clock.h"

#include <signal.h>
#include <string.h>

enum { START_TIMEOUT_MS = 10000, END_TIMEOUT_MS = 2000 };

static int check_installed(struct error *err)
{
	cleanup_free char *version = NULL;
	int r = tmux_version(&version, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux " TMUX_OLDEST " or newer");
	return r < 0 || tmux_check_version(version, err) < 0 ? -1 : 0;
}

/* The server ends with its pane, and the pane with us. */
static int start_server(const struct tmux_probe *probe, struct tmux_started *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *self = xasprintf("%d", (int)getpid());
	const struct child_request request = {
		.argv = (const char *const[]){ "tmux", "-u", "-S", probe->socket, "-f", "/dev/null",
					       "new-session", "-d", "-x80", "-y24", "-P", "-F",
					       "#{pid} #{pane_pid} #{version}", "--", probe->gate,
					       "--while", self, NULL },
		.environment = probe->environment->items,
	};
	int r = child_run(&request, START_TIMEOUT_MS, &result, err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "tmux is gone");
	return r < 0 ? -1 : tmux_parse_started(&result, ret, err);
}

static int ask_server(const char *socket, const struct tmux_started *started, struct error *err)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	int r = tmux_query(socket, &pane, err);
	if (r < 0)
		return -1;
	if (r > 0 || pane.server != started->server || pane.pane != started->pane)
		return error_set(err, ERROR_CHILD, "tmux does not reach the server that it starts");
	return 0;
}

/* The server may run although its client failed; then we find it only by its environment. */
static void end_server(const struct tmux_probe *probe, bool is_fine)
{
	cleanup_free struct process_id *left = NULL;
	size_t count = 0;
	if (is_fine && tmux_kill_server(probe->socket, NULL) == 0)
		return;
	if (process_find_by_environment(probe->marker, &left, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		(void)process_signal(&left[i], SIGKILL, NULL);
	const int64_t deadline = clock_ms() + END_TIMEOUT_MS;
	for (size_t i = 0; i < count; i++)
		(void)process_wait_end(&left[i], deadline, NULL);
}

int tmux_probe(const struct tmux_probe *probe, struct error *err)
{
	struct tmux_started started;
	if (check_installed(err) < 0)
		return -1;
	int r = start_server(probe, &started, err);
	if (r == 0)
		r = ask_server(probe->socket, &started, err);
	end_server(probe, r == 0);
	return r;
}
