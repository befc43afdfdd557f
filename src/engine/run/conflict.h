/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The holder of the conversation that a start would continue.  A start refuses because of it; this
 * looks first, so that the user can be asked.
 */
#pragma once

#include "engine/conversation/conversation.h"
#include "engine/run/start.h"

enum conflict_kind {
	CONFLICT_NONE,
	CONFLICT_SESSION, /* another session: holder */
	CONFLICT_PROCESS, /* a process that agentdeck did not start */
	CONFLICT_MACHINE, /* likewise, on another machine: it is not known here whether it lives */
	CONFLICT_BACKGROUND, /* a background process of its own agent: background */
};

/* Zero-initialised is none. */
struct conflict {
	enum conflict_kind kind;
	struct conversation_holder holder; /* of CONFLICT_SESSION */
	struct process_id process;         /* of CONFLICT_PROCESS and CONFLICT_MACHINE */
	char *background;                  /* of CONFLICT_BACKGROUND: what runs, for people */
	char *session_id;                  /* the conversation; NULL: the latest of the directory */
	bool can_fork;                     /* the session's conversation can be copied */
	char *digest; /* differs as soon as the owner, or its run, is another one */
};
void conflict_clear(struct conflict *conflict);
#define cleanup_conflict CLEANUP(conflict_clear)

/* Look whether such a start of this instance would be refused, or warned about, because another one
 * has its conversation.  Locks and changes nothing.  CONFLICT_NONE as well for one that runs
 * already (START_UNLESS_RUNNING), that another machine runs, or that cannot be started for another
 * reason: the start says why.  *ret is zero-initialised, and the caller's. */
int conflict_look(struct deck *deck, const char *base, const struct lifecycle_order *order,
		  struct conflict *ret, struct error *err);
