/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hooks: commands from a settings file that are told what happens, as JSON on standard input.
 *
 *   {"hooks": {"SessionStart": [{"matcher": "...",
 *                                "hooks": [{"type": "command", "command": "..."}]}]}}
 *
 * The command is split like a shell's and run without one.  What it answers, and whether it works
 * at all, is of no importance to the agent.
 */
#pragma once

#include "base/jsonio.h"

/* Read the file's "hooks".  *ret is the caller's: json_object_put(). */
int hooks_load(const char *path, struct json_object **ret, struct error *err);

/* Run the hooks of event whose matcher (an extended regular expression of the whole of subject;
 * none: any) fits, one after the other, each for timeout_ms at most.  payload is borrowed; hooks
 * may be NULL. */
void hooks_run(const struct json_object *hooks, const char *event, const char *subject,
	       struct json_object *payload, int timeout_ms);
