/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervisor.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/supervise/filelimit.h"

enum { RETRY_MS = 10500, MOST_DOUBLINGS = 8 };

static void on_retry(void *context)
{
	struct supervisor *supervisor = context;
	loop_remove(TAKE_PTR(supervisor->retry));
	supervisor_read(supervisor);
	if (!supervisor->retry)
		supervisor->retries = 0;
}

void supervisor_read(void *context)
{
	struct supervisor *supervisor = context;
	cleanup_error struct error err = { 0 };
	const bool is_done = roster_read(supervisor->roster, &err) == 0;
	/* Without its state directory there is nothing to supervise. */
	if (!is_done && err.code == ERROR_NOT_FOUND)
		loop_exit(supervisor->loop, SUPERVISE_LOST);
	if (is_done || supervisor->retry)
		return;
	log_error("%s", err.message);
	/* With backoff: no event tells when it can be read again. */
	if (loop_add_timer(supervisor->loop,
			   clock_ms() + ((int64_t)RETRY_MS << supervisor->retries), on_retry,
			   supervisor, &supervisor->retry, NULL) < 0)
		loop_exit(supervisor->loop, SUPERVISE_LOST);
	supervisor->retries += supervisor->retries < MOST_DOUBLINGS;
}

void supervisor_start(struct supervisor *supervisor, const struct strvec *arguments,
		      const struct strvec *environment, int timeout_ms, runner_handler handler,
		      void *context)
{
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push(&argv, supervisor->deck->program);
	strvec_push_all(&argv, arguments);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)strvec_argv(&argv),
			.environment = environment ? environment->items : NULL,
			/* The restart continues when we end, and gets no signal to our group. */
			.new_session = true,
			.outlives_us = true,
		},
		.timeout_ms = timeout_ms,
		.files = filelimit_usual(&supervisor->usual_files),
	};
	runner_start(supervisor->loop, &request, handler, context);
}
