/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The status line below a session: its activity, and how many other sessions of its profile wait
 * for their user.  Nothing is polled: code that changes an activity or ends a run calls
 * statusline_follow(), and attaching shows what is true then.  Only servers with an attached
 * terminal are told, so that a change costs nothing while no terminal is attached.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/terminal/terminal.h"

/* What the agent of the run in this directory does, as far as is known; NULL: no run. */
enum instance_activity statusline_activity(const char *run_directory);

/* What the session of this base shows now.  The texts are static. */
struct terminal_status statusline_of(struct store *store, const char *base);

/* Show what is true now in the terminals of this session, or of all (NULL).  However many do so at
 * once, the latest is what stays. */
void statusline_show(struct store *store, const char *only);

/* What a session does has changed from before to now: tell its own terminals, and, when it begins
 * or stops to wait, those of all others.  A run that is over does ACTIVITY_UNKNOWN.  A server that
 * does not answer is left out. */
void statusline_follow(struct store *store, const char *base, enum instance_activity before,
		       enum instance_activity now);

/* activity_look(), and show what it has changed. */
void statusline_look(struct deck *deck, struct store *store, const struct store_row *row);
