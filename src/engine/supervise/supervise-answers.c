/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/supervise/filelimit.h"

#include <signal.h>

/* After its end it starts again: soon, if it has followed them for a while, since the server ends
 * each connection. */
enum { SOON_MS = 1000, WHILE_MS = 30000, LATER_MS = 30000, LATEST_MS = 10 * 60 * 1000 };

static void follow_answers(void *context);

static void on_end(const struct child_result *result UNUSED, const struct error *failure,
		   void *context)
{
	struct supervisor *supervisor = context;
	struct loop_source *again;
	/* The backoff forgets earlier ends once it has run for a while. */
	const bool is_well = clock_ms() - supervisor->answers_ms >= WHILE_MS;
	const int64_t pause_ms = is_well ? SOON_MS
				 : supervisor->answers_pause_ms < LATER_MS
					 ? LATER_MS
					 : 2 * supervisor->answers_pause_ms;
	supervisor->answers_pause_ms = pause_ms < LATEST_MS ? pause_ms : LATEST_MS;
	if (failure)
		log_warning("answers to notifications: %s", failure->message);
	(void)loop_add_timer(supervisor->loop, clock_ms() + supervisor->answers_pause_ms,
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
	supervisor->answers_ms = clock_ms();
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
