/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own command for occasions that want them: [notify] command.  It is run with its
 * arguments and no shell, reads one JSON object (docs/configuration.md lists the members), and is
 * killed with all that it started when it takes too long.
 */
#pragma once

#include "base/loop.h"
#include "engine/deck/deck.h"

#include <sys/resource.h>

enum { NOTIFY_TIMEOUT_MS = 10000 };

/* Texts may be NULL. */
struct notification {
	const char *occasion; /* as in [notify] on */
	const char *id, *title, *group, *profile, *agent;
	const char *state, *activity, *reason;
	const char *message; /* one sentence for people */
	int64_t since_us;    /* of the activity, or of the state; since the Epoch, 0: unknown */
};

/* NOTIFY_UNWANTED: there is no command, or it is not for this occasion. */
enum { NOTIFY_UNWANTED = 1 };

/* failure: NULL, or what went wrong.  ERROR_UNAVAILABLE: there is no such program; ERROR_TIMEOUT:
 * it had to be killed; ERROR_CHILD: it failed, and said what the message ends with. */
typedef void (*notify_handler)(const struct error *failure, void *context);

/* Start it.  The handler is called once, in a later turn of the loop. */
struct notify_limits {
	int timeout_ms;             /* then it is killed, as long as the loop runs */
	const struct rlimit *files; /* its RLIMIT_NOFILE; NULL: ours */
};
int notify_start(const struct deck *deck, struct loop *loop,
		 const struct notification *notification, const struct notify_limits *limits,
		 notify_handler handler, void *context);

/* What it reads, one line; the caller frees. */
char *notify_payload(const struct notification *notification) MUST_USE;
