/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The process that has a conversation open, as the agent itself notes it in its home
 * (session.processes of its entry).  The notes belong to the agent: this only reads.
 *
 * The layout "sessions": <home>/sessions/<pid>.json, with pid, procStart (clock ticks since boot),
 * sessionId and kind.  A conversation in the agent's own background (kind "bg") has no holder here:
 * the agent refuses it by itself, with words that hold the session.
 */
#pragma once

#include "base/process.h"

/* Find the live process with this conversation, other than those that carry one of the skipped in
 * their environment ("NAME=VALUE" each).  A note counts only while exactly its process lives, so
 * what a kill left says nothing.  HOLDER_NONE: no readable note proves one. */
enum { HOLDER_NONE = 1 };
int holder_find(const char *home, const char *session_id, const struct strvec *skipped,
		struct process_id *ret);
