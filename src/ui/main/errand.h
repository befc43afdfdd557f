/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck changes nothing itself: it runs agentdeck's commands, beside its loop or on its
 * terminal. So what they check, ask and say is the same as in a shell.
 */
#pragma once

#include "base/runner.h"
#include "ui/state/ui.h"

struct errands {
	struct loop *loop;
	struct ui *ui;
	const char *program; /* agentdeck */
	const char *profile;
	bool *is_changed; /* set when there is news to draw */
	const void *many; /* the command of ui->many; NULL: it has ended */
};

struct errand {
	const struct strvec *words; /* behind "agentdeck" */
	const char *input;          /* NULL: none */
	int timeout_ms;             /* 0: none */
};
/* Run it beside the loop.  It continues if the deck ends first.  Returns what runner_signal()
 * knows it by, until the handler is called. */
const void *errand_start(struct errands *errands, const struct errand *errand,
			 runner_handler handler, void *context);
/* Run the words beside the loop.  What the command says becomes the news; it continues if the
 * deck ends first. */
void errand_run(struct errands *errands, const struct wish *wish);

/* End the command of ui->many.  What it has begun is done. */
void errand_halt(struct errands *errands);

/* Run a command on the terminal, which the caller has given back, and wait.  words: behind the
 * command; command may be NULL.  Its exit status; -1: it could not be run. */
int errand_terminal(struct errands *errands, const char *command, const struct strvec *words,
		    struct error *err);
/* What the command said of its failure is the news. */
void errand_tell(struct errands *errands, const struct child_result *result,
		 const struct error *failure);
/* What `agentdeck launch --json` has said, for people; the caller's. */
char *errand_launched(const struct child_result *result, const struct error *failure,
		      bool *ret_is_good) MUST_USE;
