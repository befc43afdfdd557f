/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of an instance, as its user meets it: attach, read, title.  Where its socket was
 * removed while it runs, its place makes it again.  Sending is in engine/screen/deliver.h, and
 * what the screen says of the agent in engine/screen/activity.h.
 */
#pragma once

#include "engine/terminal/terminal.h"

/* terminal_attach(), with the caller's SSH agent. */
int screen_attach(struct deck *deck, const struct instance *instance,
		  const struct terminal_order *order, struct terminal_parting *ret,
		  struct error *err);

/* The text of its pane: the screen, and up to lines that scrolled off; without escape sequences.
 * *ret is the caller's.  TERMINAL_NONE: it does not run.  ERROR_TIMEOUT: it does not answer. */
int screen_text(struct deck *deck, const struct instance *instance, unsigned lines, char **ret,
		struct error *err);

/* Show the instance's title and group in the status line.  Without a live run there is nothing to
 * do: a start shows it.  A terminal that does not take it keeps its old texts, which is a warning
 * and no error. The caller holds the instance's lock, so that the latest texts win. */
void screen_show_title(struct deck *deck, const struct instance *instance);
