/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions about a session's end on the terminal (model/question/screens.h).  Without a
 * terminal nothing is asked, nothing is lost, and the commands that decide are printed.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/run/lifecycle.h"

enum decision {
	DECISION_GO_ON, /* the session is to run: nothing was to be asked, or that is the answer */
	DECISION_LEAVE, /* not answered: nothing changes */
	DECISION_KEPT,
	DECISION_REMOVED,
};

/* Is there a user who can be asked? */
bool decide_may_ask(const struct app *app);
/* What is due or undecided about this session: do it, or ask. */
int decide_end(struct app *app, const char *base, enum decision *ret, struct error *err);
/* Before it is started by its user: what is undecided, and a tree that has changed since it was
 * kept. */
int decide_start(struct app *app, const struct store_row *row, enum decision *ret,
		 struct error *err);
/* Before a start without a question: a warning says what has changed in the tree since it was kept,
 * and *ret gets a line for each, "new: ?? file". */
void decide_tell(struct app *app, const struct store_row *row, struct strvec *ret);
/* Before it is removed: DECISION_LEAVE, or DECISION_REMOVED: work that only its tree has can go, if
 * it is what *ret_seen says, for removal_order.work_seen; the caller's.  Untouched otherwise. */
int decide_removal(struct app *app, const char *base, enum decision *ret, char **ret_seen,
		   struct error *err);
/* Which session a launch in this directory is for, if others of the agent have ended there.
 * *ret_base: one of them, the caller's; NULL: a new one. DECISION_LEAVE: none. */
int decide_launch(struct app *app, const struct lifecycle_new *wish, char **ret_base,
		  enum decision *ret, struct error *err);
