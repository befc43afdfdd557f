/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ladder: ordered ways to bring an instance back, best first, planned from facts alone.
 * Pure; docs/session-id-lifecycle.md says why each rung stands where it does.
 */
#pragma once

#include "model/instance.h"
#include "model/registry.h"

/* The reason of a fresh id that was taken because the stored one could not be resumed.  The stored id is
 * kept until the fresh conversation has a turn: the failure may pass. */
#define REASON_RESUME_FAILED "resume_failed"
/* The reason of a fresh id that was wished for. */
#define REASON_RESUME_DISABLED "resume_disabled"

/* What is known about the transcript of the stored id. */
enum transcript_fact {
	TRANSCRIPT_UNKNOWN, /* this agent's transcripts cannot be looked at */
	TRANSCRIPT_ABSENT,
	TRANSCRIPT_EMPTY,   /* there, but without one user or assistant record: both flags fail on it */
	TRANSCRIPT_TURNS,   /* holds a conversation */
};

struct resume_facts {
	const struct agent *agent;
	const struct instance *instance;
	enum transcript_fact transcript;
	bool resume_enabled;         /* master switch and policy, for this start */
	const char *new_session_id;  /* minted by the caller, used where a new id is needed */
	const char *settings_file;   /* for {settings}; NULL: no reports */
	const char *shell;           /* the last rung's program; NULL: no such rung */
};

/* Plan.  Appends to run->attempts (at least one) and sets each attempt's resolved argv, reason and id.
 * An instance without a stored id and with an agent that takes one gets new_session_id. */
void resume_plan(const struct resume_facts *facts, struct run *run);

/* The user's own argv without what chose a conversation, without an id and without the launch prompt:
 * what every rung starts from.  Appended to *ret. */
void resume_carried_argv(const struct agent *agent, const struct strvec *argv, struct strvec *ret);

/* Append a template's words with session_id in the slot {session_id}. */
void resume_push_template(struct strvec *argv, const struct strvec *template,
			  const char *session_id);

/* The id that the user's own argv carries (adopt flags), or NULL.  Borrowed from argv. */
const char *resume_adopted_id(const struct agent *agent, const struct strvec *argv);

/* What the ladder does when the process of the current attempt has ended. */
enum ladder_verdict {
	LADDER_NEXT,     /* the attempt failed: take the next rung */
	LADDER_ENDED,    /* the agent had been up and ended by itself: an ordinary exit */
	LADDER_EXHAUSTED /* the attempt failed and there is no other */
};
/* How an attempt's process ended. */
struct ladder_end {
	int code;           /* exit status, when signal_number is 0 */
	int signal_number;
	int64_t lived_ms;
};

/* An attempt failed when it exited with a status of its own (1 to 127) before it reported a start and
 * before the probation was over.  Exit 0, a signal, and the statuses that shells and agents give for
 * signals (128 and up) say nothing against the rung: the agent had its way, or somebody killed it,
 * and the next rung might give up a conversation that is there. */
enum ladder_verdict resume_judge(const struct run *run, const struct ladder_end *end,
				 int64_t probation_ms);
