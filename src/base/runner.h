/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run a program beside an event loop.  The caller does not wait: a handler gets the result.
 */
#pragma once

#include "base/child.h"
#include "base/loop.h"

#include <sys/resource.h>

/* Called each second.  lines: what the program has said on standard error since; whole lines. */
typedef void (*runner_listener)(const char *lines, void *context);

struct runner_request {
	/* The texts and vectors are needed only during the call.  Until the program ends, its
	 * output has to fit a pipe (64 KiB), or outlives_us; its input has to fit one too. */
	struct child_request child;
	int timeout_ms;             /* then it is killed; 0: never */
	bool kills_group;           /* with all that it started.  For one with new_session */
	const struct rlimit *files; /* its RLIMIT_NOFILE; NULL: ours */
	runner_listener listener;   /* of one that outlives_us; or NULL */
};

/* Either result is NULL or failure is.  failure: ERROR_UNAVAILABLE: there is no such program;
 * ERROR_TIMEOUT: it was killed.  Both end with the call. */
typedef void (*runner_handler)(const struct child_result *result, const struct error *failure,
			       void *context);

/* The handler is called once, in a later turn of the loop, whatever happens; unless the loop ends
 * before.  Then the program keeps running. */
void runner_start(struct loop *loop, const struct runner_request *request, runner_handler handler,
		  void *context);

/* Send the signal to the program whose handler gets this context, if it runs. */
void runner_signal(const void *context, int number);

/* Is this a program that was started here, and not reaped yet? */
bool runner_owns(pid_t pid);

/* Reap what an earlier image of this process has started (child_inherit()) as it ends.  Before the
 * first runner_start(). */
int runner_inherit(struct loop *loop, struct error *err);
