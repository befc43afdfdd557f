/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What becomes of what a session has, after its agent has ended by its own wish.
 *
 * The pane writes down that this is due (ending_begin()), with the end itself.  The next one that
 * sees it does it: the supervisor, recover, attach, remove.  Everything is decided under the
 * instance's lock, from what is there then (model/plan/ending.h), and what is due stays due until
 * it is done.  So a kill at any step is made good by the next one that looks.  A start before that
 * continues with everything as it was.
 */
#pragma once

#include "engine/run/operation.h"
#include "model/plan/ending.h"
#include "model/workspace/verdict.h"

/* The agent is found to have ended, and the end is about to be saved.  Nothing is due if it was
 * not by its own wish, or if there is nothing that could be freed. */
void ending_begin(struct operation *operation);

/* A start follows: what was to be decided is not any more. */
void ending_forget(struct instance *instance);

enum ending_outcome {
	ENDED_NOTHING, /* there was nothing to decide, it runs again, or it stays due */
	ENDED_LEFT,    /* what was to be freed is freed; text says what */
	ENDED_ASKS,    /* nothing was freed: its user is to say what becomes of it */
	ENDED_REMOVED, /* the session is gone, with everything that was made for it; a tree with
			* ignored files is in the trash */
};

struct ending_result {
	enum ending_outcome outcome;
	char *text;             /* for people; NULL: nothing to say */
	struct verdict verdict; /* of ENDED_ASKS: what would be lost with its tree */
};
void ending_result_free(struct ending_result *result);
#define cleanup_ending_result CLEANUP(ending_result_free)

struct ending_order {
	enum ending_wish wish;
	/* with ENDING_CLEAN_IT: what its user was shown, by verdict_digest().  If something else
	 * would be lost now, nothing is, and the outcome is ENDED_ASKS. */
	const char *seen;
	bool takes_over; /* as in struct lifecycle_order */
};

/* Do what is due, or what the user has answered.  With ENDING_BY_POLICY only to a session whose end
 * is due or undecided.  What cannot be freed now (an engine that does not answer) stays due, with a
 * warning.  ERROR_INVALID: it runs, with an answer. */
int ending_settle(struct deck *deck, const char *base, const struct ending_order *order,
		  struct ending_result *ret, struct error *err);
/* Like ending_settle(), but under the lock; after ENDED_REMOVED the operation has none. */
int ending_settle_locked(struct operation *operation, const struct ending_order *order,
			 struct ending_result *ret, struct error *err);

/* A line for each thing that would be lost.  The caller frees. */
char *ending_losses_text(const struct verdict *verdict) MUST_USE;
