/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bell and the notification sequences of terminals, written to the terminals that are attached
 * to a session.  tmux has no command that sends them, so they go to the terminals' devices, which
 * belong to us.  They neither move the cursor nor show anything in the screen.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/settings/settings.h"

struct alert {
	const char *title, *text; /* control characters in them are shown, not sent */
	bool bell;                /* BEL */
	enum notify_osc osc;      /* OSC 9 or OSC 777, which the terminal shows on the desktop */
};

/* What kind of terminal it is. */
enum alert_terminal {
	ALERT_DIRECT,
	/* A pane of another tmux: a sequence is passed on to its terminal, if its user allows that
	 * (allow-passthrough). */
	ALERT_IN_TMUX,
	/* The terminal would show a sequence as text, or knows none: only the bell. */
	ALERT_PLAIN,
};
/* By what tmux says of the client: the name (TERM) and the answer of the terminal itself. */
enum alert_terminal alert_terminal_of(const char *name, const char *answer);

enum { ALERT_TEXT_MAX = 200 };

/* The bytes for such a terminal; appended to *ret.  Each text is cut to ALERT_TEXT_MAX bytes. */
void alert_bytes(const struct alert *alert, enum alert_terminal terminal, struct strbuf *ret);

/* Write to the terminal at path, if it is a terminal of ours.  It waits for no reader: a terminal
 * that takes nothing gets nothing. */
int alert_write(const char *path, const struct strbuf *bytes, struct error *err);

/* Alert every terminal that is attached to the server of this socket.  Returns and errors: as
 * terminal_show(). */
int alert_attached(const char *socket, const struct alert *alert, struct error *err);
