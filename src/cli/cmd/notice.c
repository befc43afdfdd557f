/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "engine/roster/notice.h"
#include "engine/supervise/notify.h"

#include <unistd.h>

struct options {
	int64_t since_us;
};

static const struct command_option options[] = {
	{ 0, "since", "MICROSECONDS", "since when it is so, since the Epoch; 0: unknown",
	  TO_NUMBER(since_us, 0, INT64_MAX) },
	{ 0 },
};

static void on_done(const struct error *failure, void *context)
{
	if (failure)
		log_warning("notify: %s", failure->message);
	loop_exit(context, 0);
}

static int cmd_notice(struct app *app, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	cleanup_strbuf struct strbuf payload = { 0 };
	const struct options *given = app->options;
	const char *base = app->operands.items[0], *occasion = app->operands.items[1];
	if (fs_read_fd(STDIN_FILENO, "the notice", NOTIFY_PAYLOAD_MAX, &payload, err) != 0)
		return -1;
	/* What needs no answer of a program of the user's comes first. */
	notice_session(&app->deck, app->deck.store, base, occasion, given->since_us);
	const struct notify_call call = { occasion, strbuf_text(&payload), NOTIFY_TIMEOUT_MS };
	if (loop_new(&loop, err) < 0)
		return -1;
	return notify_start(&app->deck, loop, &call, on_done, loop) == 0 ? loop_run(loop, err) : 0;
}

const struct command command_notice = {
	.name = "notice",
	.kind = COMMAND_INTERNAL,
	.arguments = "INSTANCE OCCASION",
	.summary = "notify of a session (the supervisor and attach call this)",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_notice,
};
