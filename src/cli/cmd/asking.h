/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is to be asked about a session before it is started or removed, with the evidence.  It is
 * made here alone: cli/cmd/decide.h asks it as text, and `agentdeck settle` gives it to the deck,
 * which asks it as dialogs.
 */
#pragma once

#include "engine/run/conflict.h"
#include "engine/run/ending.h"
#include "engine/run/lifecycle.h"
#include "engine/run/undo.h"
#include "model/question/screens.h"

enum asked {
	ASKED_NOTHING,
	ASKED_END,     /* what becomes of it: CHOICE_RETURN, CHOICE_KEEP, CHOICE_CLEAN */
	ASKED_REUSE,   /* its tree has changed since it was kept: CHOICE_RETURN goes on */
	ASKED_LAUNCH,  /* sessions ended where another one is to be: CHOICE_NEW, CHOICE_RESUME */
	ASKED_REMOVAL, /* only its tree has what it has: CHOICE_CLEAN removes it */
	ASKED_PRUNE,   /* removed sessions: CHOICE_CLEAN deletes them for good */
	/* another one has its conversation: CHOICE_KEEP starts nothing, and CHOICE_ATTACH,
	 * CHOICE_FORK and CHOICE_TAKE are for cli/cmd/conflict.h */
	ASKED_CONFLICT,
};
/* One word; static. */
const char *asked_name(enum asked asked);

enum { ASKING_MOST = 2 };

/* One question after the other; the answer to the last one counts. */
struct asking {
	struct instance *instance; /* NULL for ASKED_LAUNCH and ASKED_PRUNE */
	enum asked about;
	struct question questions[ASKING_MOST];
	size_t count;
	char *seen; /* digest of what is shown: what would be lost, who has the conversation */
	struct conflict conflict;    /* of ASKED_CONFLICT */
	enum ending_outcome outcome; /* of what was due, and is done now */
	char *text;                  /* what was done, or is undecided, for people; or NULL */
};
void asking_free(struct asking *asking);
#define cleanup_asking CLEANUP(asking_free)

/* *ret is zero-initialised, and the caller's.  What is due about an end is done. */
int asking_of_end(struct deck *deck, const char *base, bool takes_over, struct asking *ret,
		  struct error *err);
int asking_of_reuse(struct deck *deck, const char *base, struct asking *ret, struct error *err);
int asking_of_removal(struct deck *deck, const char *base, struct asking *ret, struct error *err);
/* Which session is a launch in this directory for, if others of the agent have ended there? Nothing
 * is asked where the wish has a title or a conversation. */
int asking_of_launch(struct deck *deck, const struct lifecycle_new *wish, struct asking *ret,
		     struct error *err);

/* Before such a start. */
int asking_of_conflict(struct deck *deck, const char *base, const struct lifecycle_order *order,
		       struct asking *ret, struct error *err);

/* How many of the trash, whose oldest come first, were removed at least so many days ago. */
size_t asking_count_old(const struct trash *trash, int64_t days);
/* "Delete these for good? ...", with what becomes of their conversations.  Static. */
const char *asking_prune_prompt(const struct trash *trash);
/* May those that are older than [trash] keep be deleted?  ASKED_NOTHING: there are none, as the
 * text says. */
int asking_of_prune(struct deck *deck, struct asking *ret, struct error *err);
/* The answer CHOICE_CLEAN of a user who has seen these.  ERROR_INVALID: there are others by now, so
 * nothing was deleted. */
int asking_prune(struct deck *deck, const char *seen, size_t *ret_deleted, struct error *err);
