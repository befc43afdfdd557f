/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/typist.h"

#include "base/runner.h"
#include "engine/terminal/terminal.h"

#include <string.h>

enum { TIMEOUT_MS = 10000 };

static void fail(struct typist *typist, const char *what)
{
	struct ui *ui = typist->errands->ui;
	const struct item *item = list_find(ui->list, or_empty(ui->typing.id));
	cleanup_free char *why = xasprintf("%s %s", item ? item->title : "The session", what);
	ui_type_failed(ui, why);
	*typist->errands->is_changed = true;
}

/* The row of the run that the user types for.  NULL: it is over, and the deck says so. */
static const struct store_row *find_run(struct typist *typist)
{
	struct typing *typing = &typist->errands->ui->typing;
	const struct store_row *row = roster_running_row(typist->roster, typing->id);
	if (!row || !row->run.socket || terminal_check(row->run.socket, NULL) < 0) {
		fail(typist, "does not run: nothing can be typed there.");
		return NULL;
	}
	if (typing->is_checked && !process_same(&row->run.server, &typist->server)) {
		fail(typist, "was restarted: look at it before you type on.");
		return NULL;
	}
	typing->is_checked = true;
	typist->server = row->run.server;
	return row;
}

static void on_passed(const struct child_result *result, const struct error *failure UNUSED,
		      void *context)
{
	struct typist *typist = context;
	struct ui *ui = typist->errands->ui;
	const bool has_arrived = result && result->exit_status == 0 &&
				 starts_with(strbuf_text(&result->output), "0");
	ui->typing.is_sending = false;
	if (!ui->typing.id)
		return;
	if (!has_arrived) {
		fail(typist, "did not take what you typed last.");
		return;
	}
	ui->preview.is_stale = true;
	peek_settle(typist->peek);
	ui_typed(ui);
	typist_pass_on(typist);
}

void typist_pass_on(struct typist *typist)
{
	struct typing *typing = &typist->errands->ui->typing;
	cleanup_stroke struct stroke stroke = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	if (!typing->id || typing->is_sending)
		return;
	const struct store_row *row = find_run(typist);
	if (!row || !typing_take(typing, &stroke))
		return;
	typing->is_sending = true;
	if (stroke.kind == STROKE_KEY)
		terminal_press_argv(row->run.socket, stroke.text, &argv);
	else
		terminal_type_argv(row->run.socket, stroke.kind == STROKE_PASTE, &argv);
	/* By standard input: everybody on the machine can read a command line. */
	const char *input = stroke.kind == STROKE_KEY ? NULL : stroke.text;
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)argv.items,
			.input = input,
			.input_length = input ? strlen(input) : 0,
			.new_session = true,
			.outlives_us = true,
		},
		.timeout_ms = TIMEOUT_MS,
	};
	runner_start(typist->errands->loop, &request, on_passed, typist);
}
