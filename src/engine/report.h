/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents tell us through their hooks: one JSON object on standard input, of an event in the shape
 * that claude's hooks have (session_id, transcript_path, cwd, hook_event_name, source, ...).
 *
 * A report counts only if it carries the token of the instance's present run (ENV_TOKEN in the hook's
 * environment).  It may move the conversation's id, since the user may have said /clear or picked
 * another conversation inside the agent; it never moves it at an agent's end.
 */
#pragma once

#include "engine/deck.h"

enum { REPORT_MAX = 1 << 20, REPORT_TIMEOUT_MS = 10000 };

/* REPORT_FOREIGN: it is not from the instance's present run, and was ignored. */
enum { REPORT_FOREIGN = 1 };

/* Take one report for the instance of this id.  text is what the hook was given on standard input. */
int report_take(struct deck *deck, const char *id, const char *token, const char *text,
		size_t length, struct error *err);
