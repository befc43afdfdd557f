/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notices for a session's user without a program of theirs: on the desktop ([notify] desktop), and
 * in the terminals that are attached to any session of the profile ([notify] bell and osc).
 *
 * Each occasion has one process that gives the notice, so that no supervisor is needed for the
 * first two:
 *
 *   what the agent does           the process that records it: the agent's report, or the pane
 *   the same, by the screen       the supervisor, or an attached terminal (supervise/deputy.h)
 *   the others                    the same
 */
#pragma once

#include "engine/deck/deck.h"

struct notice {
	const char *occasion;      /* as in [notify] on */
	const char *title, *text;  /* text: one sentence, for people */
	const char *run_directory; /* NULL: it has no run */
	int64_t since_us;          /* of what it is about; since the Epoch, 0: unknown */
};

/* What an agent did, and what it does now. */
struct notice_change {
	enum instance_activity before, now;
	int64_t since_us;
};

/* True: the notice of this change was not given yet, and the caller gives it now.  A change is
 * known by its occasion and its time: each gives one notice, even if several processes see it.  A
 * change without a known time or run always gives one. */
bool notice_claim(const struct notice *notice);

/* Does anybody want to be told of it, on the desktop or in a terminal? */
bool notice_is_wanted(const struct deck *deck, const char *occasion);

/* What a change of what the agent does is an occasion for; NULL: none.  has_failed: its turn ended
 * with an error.  Static. */
const char *notice_doing(enum instance_activity before, enum instance_activity now,
			 bool has_failed);

/* Give it, unless it is not wanted or was given.  It takes 2 s at most for a server that does not
 * answer, which is not asked again then, and half a second for the desktop.  Failures are logged. */
void notice_give(const struct deck *deck, struct store *store, const struct notice *notice);

/* Give the notice of a session, with its error. */
void notice_session(const struct deck *deck, struct store *store, const char *base,
		    const char *occasion, int64_t since_us);

/* The notice of a change of what the agent does, if the change is an occasion. */
void notice_activity(const struct deck *deck, struct store *store, const char *base,
		     const struct notice_change *change);
