/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session is to be started, and another session or process has its conversation: the question on
 * the terminal, and the effect of each answer.  The deck asks through `agentdeck settle`.
 */
#pragma once

#include "cli/cmd/asking.h"
#include "cli/core/command.h"

enum conflict_way {
	CONFLICT_START,  /* the conversation is free: start the session */
	CONFLICT_LEAVE,  /* start nothing */
	CONFLICT_ATTACH, /* attach_chosen(): the session of base and profile, which runs */
	CONFLICT_COPY,   /* start the session of base instead, which begins with a copy */
};
struct conflict_outcome {
	enum conflict_way way;
	char *base;    /* of CONFLICT_ATTACH and CONFLICT_COPY */
	char *profile; /* of base; NULL: the deck's own */
};
void conflict_outcome_clear(struct conflict_outcome *outcome);
#define cleanup_conflict_outcome CLEANUP(conflict_outcome_clear)

/* Before such a start by its user.  Without a user who can be asked nothing is: the start refuses.
 * *ret is zero-initialised, and the caller's. */
int conflict_decide(struct app *app, const struct store_row *row,
		    const struct lifecycle_order *order, struct conflict_outcome *ret,
		    struct error *err);

/* Carry out the answer to ABOUT_CONFLICT, CHOICE_ATTACH, CHOICE_FORK or CHOICE_TAKE, which is still
 * what was shown.  *ret as above. */
int conflict_carry_out(struct app *app, const struct asking *asking, enum choice_kind choice,
		       struct conflict_outcome *ret, struct error *err);
