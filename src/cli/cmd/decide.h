/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions of cli/cmd/asking.h on the terminal, and what each answer does.  Without a terminal
 * nothing is asked and nothing is lost: what is undecided stays so and the commands that decide are
 * printed, and a start whose conversation another one has refuses.
 */
#pragma once

#include "cli/cmd/asking.h"
#include "cli/core/command.h"
#include "engine/run/add.h"
#include "engine/run/start.h"

enum decision_way {
	DECISION_GO_ON, /* the session is to run: nothing was to be asked, or that is the answer */
	DECISION_LEAVE, /* not answered: nothing changes */
	DECISION_KEPT,
	DECISION_REMOVED,
	DECISION_ATTACH, /* attach_chosen(): another session, which has the conversation */
	DECISION_COPY,   /* start another session instead, which begins with a copy */
};
struct decision {
	enum decision_way way;
	char *base;    /* of DECISION_ATTACH and DECISION_COPY: that session */
	char *profile; /* of base; NULL: the deck's own */
};
void decision_clear(struct decision *decision);
#define cleanup_decision CLEANUP(decision_clear)

/* Is there a user who can be asked? */
bool decide_may_ask(const struct app *app);
/* What is due or undecided about this session: do it, or ask. */
int decide_end(struct app *app, const char *base, enum decision_way *ret, struct error *err);
/* Before it is started by its user: who has its conversation and, unless it is a restart, what is
 * undecided and a tree that has changed since it was kept.  *ret is zero-initialised, and the
 * caller's. */
int decide_start(struct app *app, const struct store_row *row, const struct lifecycle_order *order,
		 struct decision *ret, struct error *err);
/* Carry out the answer to ABOUT_CONFLICT, which is still what was shown.  *ret as above. */
int decide_conflict(struct app *app, const struct asking *asking, enum choice_kind choice,
		    struct decision *ret, struct error *err);
/* Before a start without a question: a warning says what has changed in the tree since it was kept,
 * and *ret gets a line for each, "new: ?? file". */
void decide_tell(struct app *app, const struct store_row *row, struct strvec *ret);
/* Before it is removed: DECISION_LEAVE, or DECISION_REMOVED: work that only its tree has can go, if
 * it is what *ret_seen says, for removal_order.work_seen; the caller's.  Untouched otherwise. */
int decide_removal(struct app *app, const char *base, enum decision_way *ret, char **ret_seen,
		   struct error *err);
/* Which session a launch in this directory is for, if others of the agent have ended there.
 * *ret_base: one of them, the caller's; NULL: a new one. DECISION_LEAVE: none. */
int decide_launch(struct app *app, const struct lifecycle_new *wish, char **ret_base,
		  enum decision_way *ret, struct error *err);
