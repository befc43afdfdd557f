/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent's last reply, from its transcript, and the wait for the next one.
 */
#pragma once

#include "cli/core/command.h"
#include "driver/transcript/shelf.h"
#include "engine/roster/roster.h"

struct reply {
	char *text, *time; /* time: of its record, "" without one */
	char *path;        /* of the transcript */
};
void reply_free(struct reply *reply);
#define cleanup_reply CLEANUP(reply_free)

/* REPLY_NONE: there is none yet; *ret has the path if there is a transcript.  ERROR_INVALID: the
 * agent writes no transcript that agentdeck can read.  *ret is the caller's. */
enum { REPLY_NONE = 1 };
int reply_find(struct app *app, const struct instance *instance, struct reply *ret,
	       struct error *err);

/* The last turns of its conversation, at most max.  REPLY_NONE: there are none yet.  ERROR_INVALID
 * as above. */
int reply_turns(struct app *app, const struct instance *instance, size_t max,
		struct transcript_turns *ret, struct error *err);

/* What the conversation in this file of the instance's agent is about (reply_find()).  REPLY_NONE:
 * there is no such file any more. */
int reply_describe(struct app *app, const struct instance *instance, const char *path,
		   struct shelf_about *ret, struct error *err);

/* Is it another one than before? */
bool reply_is_new(const struct reply *reply, const struct reply *before);

/* What there is to see of a session whose next reply is awaited. */
struct reply_view {
	const struct instance *instance;
	const struct reply *reply; /* NULL: none yet */
	const struct view *view;   /* what the session is doing */
};
/* Returns 0 to continue; else reply_follow() returns that: positive, or -1 with *err set. */
typedef int (*reply_handler)(const struct reply_view *view, void *context, struct error *err);

/* Call the handler now, and whenever the transcript or the session has changed, until deadline_ms
 * of clock_ms().  ERROR_TIMEOUT; ERROR_NOT_FOUND: the session was removed. */
int reply_follow(struct app *app, const struct store_row *row, int64_t deadline_ms,
		 reply_handler handler, void *context, struct error *err);
