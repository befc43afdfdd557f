/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions about a session before it is started, launched or removed, and about the trash,
 * with the evidence (model/question/questions.h).
 */
#pragma once

#include "driver/store/trash.h"
#include "engine/run/add.h"
#include "engine/run/conflict.h"
#include "engine/run/ending.h"
#include "engine/run/start.h"
#include "model/question/questions.h"

struct asking {
	struct questions questions;
	struct instance *instance; /* NULL: they are not about one session */
	struct conflict conflict;  /* of ABOUT_CONFLICT */
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
/* May those that are older than [trash] keep be deleted?  ABOUT_NOTHING: there are none, as the
 * text says. */
int asking_of_prune(struct deck *deck, struct asking *ret, struct error *err);
/* The answer CHOICE_CLEAN of a user who has seen these.  ERROR_INVALID: there are others by now, so
 * nothing was deleted. */
int asking_prune(struct deck *deck, const char *seen, size_t *ret_deleted, struct error *err);
