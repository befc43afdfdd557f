/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal that is attached to a session of another host, and stays so when the link is lost
 * (model/host/reattach.h).
 */
#pragma once

#include "model/host/remote.h"

struct attached_order {
	struct deck *deck;
	const struct remote *remote;
	/* behind "agentdeck", for the host: how to attach, and to the same session again */
	const struct strvec *words;
	const char *profile; /* as its user named it; NULL: not at all */
};

/* Returns the exit status of the host's attach.  ERROR_UNREACHABLE: it does not answer, and its
 * user has left, or must do something first. */
int attached_run(const struct attached_order *order, struct error *err);

/* What a program of the host has switched on stays so where its end did not come through: take all
 * of that back.  before: how the terminal was. */
struct termios;
void attached_restore_terminal(const struct termios *before);
