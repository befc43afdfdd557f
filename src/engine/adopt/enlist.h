/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Make sessions of conversations that belong to none: what `agentdeck discover --add` does.
 */
#pragma once

#include "engine/conversation/discover.h"

/* Make a stopped session of each, named after its directory: all of them, or after a failure none.
 * Each will resume its conversation.  Warns of an agent outside of agentdeck that may have one of
 * them open.  group: NULL for none.  ret: as many instances, the caller's.
 * ERROR_EXISTS: a session has it by now, or a process has it open.  ERROR_NOT_FOUND: its directory
 * does not exist any more, or its agent would not find it there. */
int enlist(struct deck *deck, const struct discover_find *finds, size_t count, const char *group,
	   struct instance **ret, struct error *err);
