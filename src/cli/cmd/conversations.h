/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `discover` and `history` share: looking at the conversations on disk.
 */
#pragma once

#include "cli/core/command.h"
#include "cli/show/progress.h"

#include "engine/conversation/discover.h"

/* The options that choose some of them. */
struct conversation_choice {
	const char *agent, *directory, *since;
};

/* A discovery that shows its progress on standard error after a second.  It points into itself. */
struct conversation_look {
	struct discovery discovery;
	char *directory;
	struct progress progress;
};

/* nobodys: only those that belong to no session. */
int conversation_look_open(struct app *app, const struct conversation_choice *choice, bool nobodys,
			   struct conversation_look *ret, struct error *err);
/* Take the progress off the screen. */
void conversation_look_done(struct conversation_look *look);
/* Like conversation_look_done(), but at the end, and warn of what could not be read. */
void conversation_look_end(struct app *app, struct conversation_look *look);
void conversation_look_close(struct conversation_look *look);
#define cleanup_conversation_look CLEANUP(conversation_look_close)

/* What is known of one, as JSON. */
struct json_object *json_of_conversation(const struct discover_find *find) MUST_USE;
