/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/supervise/filelimit.h"

#include <signal.h>

/* After its end it starts again: soon, if all was well, since the server ends each connection. */
enum { SOON_MS = 1000, LATER_MS = 30000 };

static void follow_answers(void *context);

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	const struct supervisor *supervisor = context;
	const bool is_well = !failure && result->exit_status == 0;
	struct loop_source *again;
	if (failure)
		log_warning("answers to notifications: %s", failure->message);
	(void)loop_add_timer(supervisor->loop, clock_ms() + (is_well ? SOON_MS : LATER_MS),
			     follow_answers, context, &again, NULL);
}

static void follow_answers(void *context)
{
	struct supervisor *supervisor = context;
	const struct runner_request request = {
		.child = { .argv = (const char *const[]){ supervisor->deck->program, "answers",
							  NULL } },
		.files = filelimit_usual(&supervisor->usual_files),
	};
	runner_start(supervisor->loop, &request, on_end, supervisor);
}

void answers_open(struct supervisor *supervisor)
{
	if (supervisor->deck->settings.notify.answers)
		follow_answers(supervisor);
}

void answers_close(const struct supervisor *supervisor)
{
	runner_signal(supervisor, SIGTERM);
}
