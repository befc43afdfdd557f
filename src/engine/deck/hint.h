/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands that a message advises: how they name a session.
 */
#pragma once

#include "engine/deck/deck.h"

/* The reader is at another machine, which calls this host so: a hint has HOST:SESSION.  Borrowed. */
void hint_set_host(const char *host);
/* The words that name this session of the deck's profile behind a command, quoted for a shell:
 * "api", "'my api'", "-p work api".  It is the title, where that finds the session, else the id.
 * A text that is stored names the id itself, since a title may change.  The caller frees. */
char *hint_session(const struct deck *deck, const char *title, const char *id) MUST_USE;
/* Like hint_session(), but for one of these rows, which are all of the deck's profile. */
char *hint_row(const struct deck *deck, const struct store_rows *rows,
	       const struct store_row *row) MUST_USE;
/* Like hint_row(), but for a name or an id in this profile, as given.  profile: NULL for none. */
char *hint_named(const char *profile, const char *name) MUST_USE;
/* The command that brings back this session, which is in the trash: "agentdeck undo",
 * "agentdeck undo -p work 0aaaaaaa".  is_last: it was removed last.  The caller frees. */
char *hint_undo(const struct deck *deck, const char *title, const char *id, bool is_last) MUST_USE;
