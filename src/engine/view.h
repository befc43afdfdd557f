/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an instance is now, for listings: what is stored, held against what is there.
 *
 * A stored state can be untrue only where nobody was left to write the end down: a server that was killed, a machine that
 * was restarted.  Whoever lists writes it down then.  The index needs nothing for that: it is a cache of the manifests.
 */
#pragma once

#include "engine/deck.h"

/* What the instance is now, by looking (not deeper than processes), and its activity.  Corrects nothing on disk. */
struct lifecycle_view {
	enum instance_state state;
	bool is_silent;      /* running, as far as is known: its server is there and does not answer */
	enum instance_activity activity;
	int64_t activity_since;
	char *reason;        /* the caller's, NULL when there is nothing to say */
};
void lifecycle_view_free(struct lifecycle_view *view);
#define cleanup_lifecycle_view CLEANUP(lifecycle_view_free)
void lifecycle_view_row(const struct store_row *row, struct lifecycle_view *ret);

/* The word for it: the state's name, or "unknown".  Static. */
const char *lifecycle_view_status(const struct lifecycle_view *view);

/* Ask the server of a running instance whether it answers, for at most 2 s, so that lifecycle_view_row() tells. */
void lifecycle_ask(struct deck *deck, const struct instance *instance);

/* Is the run of this row there (same boot, same server process)? */
bool lifecycle_row_is_live(const struct store_row *row);

/* store_list(), and what is stored and not true is corrected in the manifests, for 50 ms at the most: state, reason and
 * since.  The wish stays, and so does the run, for the next start.  One that somebody is working on, or that cannot be
 * written, stays as it is, without a word.  The rows are those from before: lifecycle_view_row() says the same of both. */
int lifecycle_list(struct deck *deck, struct store_rows *ret, struct error *err);
/* The same for one of them. */
void lifecycle_correct(struct deck *deck, const struct store_row *row);
