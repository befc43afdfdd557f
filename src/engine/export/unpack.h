/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions out of a file that pack.h made: what `agentdeck session import` does.
 *
 * The whole file is checked, and compared with this machine, before anything is written.  Then the
 * conversation comes to where the agent looks for it, and the session after it.  Killed in between,
 * a second import finds the same conversation there, and completes the first.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/export/unpack-file.h"

/* Make its only session, stopped.  ERROR_EXISTS: it was imported before, its conversation belongs to
 * a session or to one in the trash, or is on this disk and differs.  ERROR_NOT_FOUND: its directory
 * or agent is not here.  ERROR_INVALID: the file has several sessions.  *ret is the caller's. */
int unpack_session(struct deck *deck, const struct unpack_order *order, struct instance **ret,
		   struct error *err);
