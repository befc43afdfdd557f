/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an instance is now, for listings: what is stored, held against what is there.
 *
 * A stored state can be untrue only where no process was left to record the end: a server that was
 * killed, a machine that was restarted.  A listing records it then (engine/run/correct.h).
 * The index needs nothing for that: it is a cache of the manifests.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/facts.h"

/* What the reason of a view is about. */
enum view_note {
	VIEW_PLAIN,
	VIEW_SUSPENDED, /* running: its user has suspended the agent */
	VIEW_FAILED,    /* idle: its turn ended with an error */
	VIEW_SHARING,   /* running, in a conversation that another instance owns */
	VIEW_UNDECIDED, /* stopped: its user is to say what becomes of what it has left */
	VIEW_MOVING,    /* stopped: it is on its way to or from another host, or is there */
	VIEW_ASLEEP,    /* stopped: attach and send wake it */
	VIEW_FREED,     /* stopped: what can be made again is gone */
};

/* What view_of() finds by looking, not deeper than processes.  It corrects nothing on disk. */
struct view {
	enum instance_state state;
	/* running, as far as is known: its server is there and does not answer */
	bool is_silent;
	enum view_note note;
	enum instance_activity activity;
	bool asks; /* waiting: for the answer to a question */
	int64_t activity_since;
	/* the activity may be another one since more than 5 s (engine/screen/activity.h) */
	bool is_old;
	/* the run is another machine's: its name; then is_silent, and state is the last that it
	 * wrote */
	char *host;
	/* VIEW_FAILED: when the usage limit ends, µs since the Epoch; 0: it is another failure, or
	 * the agent has not said when */
	int64_t limited_until;
	bool may_continue; /* it was not told yet to continue after that */
	char *reason;      /* the caller's, NULL when there is nothing to say */
};
void view_free(struct view *view);
#define cleanup_view CLEANUP(view_free)
struct view view_of(const struct store_row *row);

/* The word for it: the state's name, or "unknown".  Static. */
const char *view_status(const struct view *view);

enum doing doing_of(const struct view *view);

/* May a start ask its user something: what becomes of its work, or of another process that has its
 * conversation open? */
bool view_asks_first(const struct store_row *row, const struct view *view);

/* Since when that is so: the activity where it is known, else the state.  Microseconds since the
 * Epoch; 0: unknown. */
int64_t view_since(const struct store_row *row, const struct view *view);

/* Ask the server of a running instance whether it answers, for at most 2 s, so that view_of()
 * tells; nudge it if its agent has ended (place_nudge()).  The roster does both by itself. */
void view_ask(struct deck *deck, const struct instance *instance);

/* Is the stored state of this run not true any more?  Then *ret_state is what is instead, and
 * *ret_why (static, may be NULL) why.  A server that does not answer exists: then it is true. */
bool view_is_over(const struct place_run *run, enum instance_state stored,
		  enum instance_state *ret_state, const char **ret_why);
