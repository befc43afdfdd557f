/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own command for occasions that want them: [notify] command.  It is run with its arguments and no shell, reads
 * one JSON object (docs/configuration.md lists the members), and is killed with all that it started when it takes
 * too long.
 *
 * Sequence: notify_start(); when the child's pidfd is readable, or NOTIFY_TIMEOUT_MS have passed: notify_end().  Neither
 * waits for anything.
 */
#pragma once

#include "base/child.h"
#include "engine/deck.h"

enum { NOTIFY_TIMEOUT_MS = 10000 };

/* Texts may be NULL. */
struct notification {
	const char *occasion; /* as in [notify] on */
	const char *id, *title, *group, *profile, *agent;
	const char *state, *activity, *reason;
	const char *message;  /* one sentence for people */
	int64_t since_us;     /* of the activity, or of the state; since the Epoch, 0: unknown */
};

/* NOTIFY_UNWANTED: there is no command, or it is not for this occasion. */
enum { NOTIFY_UNWANTED = 1 };

/* *ret is for notify_end(); its texts are borrowed from the deck's settings.  ERROR_UNAVAILABLE: there is no such
 * program. */
int notify_start(const struct deck *deck, const struct notification *notification, struct child *ret,
		 struct error *err);

/* Take notice of its end, or, if it still runs, end it.  ERROR_TIMEOUT: it had to be killed; ERROR_CHILD: it failed, and
 * said what the message ends with. */
int notify_end(struct child *child, struct error *err);

/* What it reads, one line; the caller frees. */
char *notify_payload(const struct notification *notification) MUST_USE;
