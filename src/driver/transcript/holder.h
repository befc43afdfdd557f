/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The process that has a conversation open, as the agent itself leaves it in its home.  What is
 * there belongs to the agent: this only reads.
 *
 * Notes (session.processes of its entry), in the layout "sessions": <home>/sessions/<pid>.json,
 * with pid, procStart (clock ticks since boot), sessionId, cwd and kind.  A conversation in the
 * agent's own background (kind "bg") has no holder here: the agent refuses it by itself, with words
 * that hold the session.
 *
 * A lock (files.lock): a file on which the process has a lock as long as it has the conversation.
 */
#pragma once

#include "base/process.h"
#include "model/agent/agent.h"

/* The processes that are not looked for.  All zero: none. */
struct holder_skip {
	struct strvec marks; /* "NAME=VALUE" each: those that carry one in their environment */
	/* those of which this is true; NULL: none.  context is borrowed. */
	bool (*is_own)(const void *context, pid_t pid);
	const void *context;
};
void holder_skip_clear(struct holder_skip *skip);
#define cleanup_holder_skip CLEANUP(holder_skip_clear)

/* What the note of this process says, which may have ended: the process itself wrote it, or what
 * ran in its place.  HOLDER_NONE: it left none.  *ret is the caller's. */
struct holder_note {
	char *session_id; /* any text */
	char *directory;  /* likewise; NULL: it does not say */
};
void holder_note_clear(struct holder_note *note);
#define cleanup_holder_note CLEANUP(holder_note_clear)
int holder_read_note(const struct agent *agent, const char *home, const struct process_id *process,
		     struct holder_note *ret);

/* Find the live process with this conversation that is not skipped.  A note counts only while
 * exactly its process lives, and a lock only while it is held, so what a kill left says nothing.
 * HOLDER_NONE: nothing proves one. */
enum { HOLDER_NONE = 1 };
int holder_find(const struct agent *agent, const char *home, const char *session_id,
		const struct holder_skip *skip, struct process_id *ret);
