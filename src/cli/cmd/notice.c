/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "engine/answer/phone.h"
#include "engine/roster/notice.h"
#include "engine/supervise/notify.h"

#include <signal.h>
#include <sys/prctl.h>
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
	cleanup_error struct error why = { 0 };
	const struct options *given = app->options;
	const char *base = app->operands.items[0], *occasion = app->operands.items[1];
	if (fs_read_fd(STDIN_FILENO, "the notice", NOTIFY_PAYLOAD_MAX, &payload, err) != 0)
		return -1;
	/* What needs no answer of a program of the user's comes first. */
	notice_session(&app->deck, app->deck.store, base, occasion, given->since_us);
	const struct notify_call call = { occasion, strbuf_text(&payload), NOTIFY_TIMEOUT_MS };
	if (loop_new(&loop, err) < 0 ||
	    (notify_start(&app->deck, loop, &call, on_done, loop) == 0 && loop_run(loop, err) < 0))
		return -1;
	if (phone_tell(&app->deck, base, occasion, call.payload, &why) < 0)
		log_warning("notify: %s", why.message);
	return 0;
}

static int cmd_answers(struct app *app, struct error *err)
{
	if (!app->deck.settings.notify.answers)
		return error_set(err, ERROR_INVALID, "config.toml has no [notify] answers");
	/* The supervisor that started this may end without a word. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	return phone_listen(&app->deck, err);
}

const struct command command_answers = {
	.name = "answers",
	.arguments = "",
	.kind = COMMAND_INTERNAL,
	.summary = "follow the answers to notifications (the supervisor calls this)",
	.flags = NEEDS_STORE,
	.run = cmd_answers,
};

const struct command command_notice = {
	.name = "notice",
	.kind = COMMAND_INTERNAL,
	.arguments = "INSTANCE OCCASION",
	.summary = "notify of a session (the supervisor and attach call this)",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_notice,
};
