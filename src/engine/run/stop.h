/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stop, remove and free a session.
 *
 * Every function here takes the instance's lock for itself, looks at what is there now instead of
 * trusting what was stored, and writes what it is about to do before it does it.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/workspace/branch.h"

/* The run that a user was shown, as its manifest names it; zero for what that does not name. */
struct lifecycle_seen {
	struct process_id server, pane;
};
struct stop_order {
	const struct lifecycle_seen *seen; /* only that run; NULL: whatever runs.  Borrowed */
	bool takes_over;                   /* as in struct lifecycle_order */
};
/* End the run and every process of it.  *ret_was_running tells whether there was one.
 * ERROR_INVALID: by now another run is there than the one that was seen, and it still runs. */
int lifecycle_stop(struct deck *deck, const char *base, const struct stop_order *order,
		   bool *ret_was_running, struct error *err);

/* End the run in order, because its host is about to end: it is to run again, and the next
 * incarnation of the host starts it, as it finishes a restart.  One that does not run, or is to
 * stop, is left alone. */
int lifecycle_rest(struct deck *deck, const char *base, struct error *err);

enum removal {
	REMOVE_ANYWAY, /* stop it first */
	/* refuse one that runs, or may run, or whose agent runs in its background: ERROR_INVALID */
	REMOVE_STOPPED,
	REMOVE_DAMAGED, /* its manifest cannot be read, so that there is nothing to stop */
	REMOVE_UNUSED,  /* as REMOVE_ANYWAY, but for good: it was made just now */
};

struct removal_order {
	enum removal how;
	bool takes_over; /* as in struct lifecycle_order */
	/* The user gives up what only the tree of the session has (--discard). */
	bool may_lose_work;
	/* Discard only what the user was shown, by verdict_digest().  NULL: anything. */
	const char *work_seen;
	/* One text for all sessions that one command removes, so that one undo brings them back.
	 * NULL: a single session. */
	const char *with;
	/* Fail if its container cannot be freed; else that is left to prune. */
	bool must_free;
	/* The branches that lifecycle_purge() deletes with the tree. */
	enum branches_wish branches;
};

/* Move the instance to the trash (engine/run/undo.h).  The agent's own transcripts are the user's
 * and stay. */
int lifecycle_remove(struct deck *deck, const char *base, const struct removal_order *order,
		     struct error *err);

/* Remove a session that was made just now: REMOVE_UNUSED. */
int lifecycle_withdraw(struct deck *deck, const char *base, struct error *err);

/* Remove the instance and delete everything that it has, at once and without undo; conversations
 * that its agent keeps elsewhere stay.  REMOVE_STOPPED or REMOVE_ANYWAY.  Refused while an engine
 * has something of it that cannot be removed, or does not answer, and while its tree has what is
 * nowhere else (may_lose_work), or something that is not agentdeck's is in its directory; then
 * nothing has changed, and it still runs.  Killed half-way, it is in the trash, for prune. */
int lifecycle_purge(struct deck *deck, const char *base, const struct removal_order *order,
		    struct error *err);

/* Free what the session's place keeps for the next start (a container and its network); the
 * conversation, its home and the directory stay.  REMOVE_STOPPED or REMOVE_ANYWAY.
 * PLACE_HAD_NOTHING: there was no container.  ERROR_INVALID: it runs on this host. */
int lifecycle_eject(struct deck *deck, const char *base, enum removal how, struct error *err);
