/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hooks: commands from a settings file that get each event as JSON on standard input.
 *
 *   {"hooks": {"SessionStart": [{"matcher": "...",
 *                                "hooks": [{"type": "command", "command": "..."}]}]}}
 *
 * A shell runs the command, as with real agents, so the hook is the agent's grandchild.  The agent
 * ignores its output and its failure.
 */
#pragma once

#include "base/jsonio.h"

/* Read the file's "hooks": none, if its "disableAllHooks" is true.  *ret is the caller's:
 * json_object_put(). */
int hooks_load(const char *path, struct json_object **ret, struct error *err);

/* Run the hooks of event whose matcher fits, one after the other, each for timeout_ms at most. A
 * matcher is an extended regular expression for the whole of subject; a hook without one always
 * fits.  payload is borrowed; hooks may be NULL. */
void hooks_run(const struct json_object *hooks, const char *event, const char *subject,
	       struct json_object *payload, int timeout_ms);
