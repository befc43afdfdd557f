/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/lens.h"

#include "engine/terminal/terminal.h"

enum { TIMEOUT_MS = 10000, SCREEN_MAX = 4 << 20 };

static void run_tmux(const struct lens *lens, const struct strvec *argv, runner_handler handler)
{
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)argv->items,
			.new_session = true,
			.outlives_us = true,
			.max_output = SCREEN_MAX,
		},
		.timeout_ms = TIMEOUT_MS,
	};
	runner_start(lens->glance->errands->loop, &request, handler, lens->context);
}

static void ignore(const struct child_result *result UNUSED, const struct error *failure UNUSED,
		   void *context UNUSED)
{
}

bool lens_close(struct lens *lens)
{
	cleanup_strvec struct strvec argv = { 0 };
	if (!lens->bell)
		return false;
	if (bell_end_argv(lens->bell, &argv))
		run_tmux(lens, &argv, ignore);
	bell_close(TAKE_PTR(lens->bell));
	return true;
}

bool lens_look(struct lens *lens, const char *id)
{
	cleanup_strvec struct strvec argv = { 0 };
	const struct glance *glance = lens->glance;
	const struct store_row *row = roster_running_row(glance->roster, id);
	if (!row || !process_same(&row->run.server, &lens->server))
		(void)lens_close(lens);
	if (!row || !row->run.socket || !row->run.directory ||
	    terminal_check(row->run.socket, NULL) < 0)
		return false;
	lens->server = row->run.server;
	const struct bell_order order = { row->id, row->run.socket, row->run.directory,
					  glance->deck->bell };
	if (!lens->bell && bell_open(glance->errands->loop, &order, lens->on_ring, lens->context,
				     &lens->bell, NULL) < 0)
		return false;
	bell_look_argv(lens->bell, &argv);
	run_tmux(lens, &argv, lens->on_screen);
	return true;
}
