/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ladder: ordered ways to restore an instance, best first, planned from facts alone.
 *
 * How the agent's conversation is found again (registry_strategy()) decides which rungs there are:
 *
 *   A   the id is ours          resume, assign, fresh in the order that the facts ask for
 *   A*  one flag does both      resume (makes it at first), fresh
 *   A'  the agent makes it      resume with the id that was made before; fresh if another was made
 *   R   the agent reports it    resume if the id is known; else nothing, and no guess
 *   B   the latest is ours      continue, but not at first; without its own home only while
 *                               no other instance of the agent has the directory
 *
 * Launch follows, but for a copy and for TRANSCRIPT_ELSEWHERE; then the shell, if there is one.  A
 * stored id that the agent accepts is resumed whatever the strategy.  For every plan:
 *
 *   - it has each rung at most once, and none behind one that gives up more;
 *   - an id is one word of an argv, and an id of a kind that the agent does not take is left out;
 *   - the launch prompt goes with the first attempt of the first launch only;
 *   - a copy that has not been made yet (forked_from) is made, and nothing else is tried, since the
 *     user did not ask for an empty conversation;
 *   - every attempt but the shell has the agent's isolation.
 *
 * Pure; docs/session-id-lifecycle.md explains the order of the rungs.
 */
#pragma once

#include "model/agent/registry.h"
#include "model/session/instance.h"

/* What is known about the transcript of the stored id. */
enum transcript_fact {
	TRANSCRIPT_UNKNOWN, /* this agent's transcripts cannot be looked at */
	TRANSCRIPT_ABSENT,
	/* there, but without one user or assistant record: both flags fail on it */
	TRANSCRIPT_EMPTY,
	TRANSCRIPT_TURNS, /* holds a conversation */
	/* The transcript is where the agent keeps those of another directory: not every version
	 * finds it there, and nothing else may take its place. */
	TRANSCRIPT_ELSEWHERE,
};

struct resume_facts {
	const struct agent *agent;
	const struct instance *instance;
	enum transcript_fact transcript;
	bool resume_enabled;        /* master switch and policy, for this start */
	const char *new_session_id; /* made by the caller (resume_new_id(), or the agent's own
				     * command), used where a new id is needed; NULL: there is none */
	const char *settings_file;  /* for {settings}; NULL: no such reports */
	const char *hook;           /* for {hook}; NULL: no such reports */
	const char *state;          /* for {state}, the directory that belongs to the instance */
	/* another instance of this agent has the directory, in whatever state, or had it and is in
	 * the trash */
	bool place_shared;
	const char *shell; /* the last rung's program; NULL: no such rung */
};

/* Plan.  Appends to run->attempts (at least one) and sets each attempt's resolved argv, reason and
 * id. An instance without a stored id gets new_session_id. */
void resume_plan(const struct resume_facts *facts, struct run *run);

/* What we tell the user about the history while the present attempt of instance->run is tried:
 * "history not restored: <why>", "history not verified: ..." for an agent that does not say whether
 * it found it, NULL when it comes back or there was none.  agent: NULL when it is not known any
 * more.  For a first attempt before last_used_at is set for the run.  The caller frees. */
char *resume_history_note(const struct agent *agent, const struct instance *instance) MUST_USE;

/* The first report of an attempt has named its conversation: what was not verified is known now.
 * True: the note was changed.  Call it before the attempt's id is changed. */
bool resume_note_reported(const struct agent *agent, struct instance *instance,
			  const char *session_id);

/* The user's own argv without what chose a conversation, without an id and without the launch
 * prompt: what every rung starts from.  Appended to *ret. */
void resume_carried_argv(const struct agent *agent, const struct strvec *argv, struct strvec *ret);

/* The command that brings the stored conversation back, appended to *ret; nothing when there is
 * none. */
void resume_command(const struct agent *agent, const struct instance *instance, const char *state,
		    struct strvec *ret);

/* The values of the slots {session_id}, {settings}, {hook}, {hook_command} (made of hook) and
 * {state} of the registry's words. */
struct resume_slots {
	const char *session_id, *new_session_id, *settings, *hook, *state;
};
/* Append the words with the slots filled, word by word: a value never becomes a second word, and
 * what looks like a slot in a value is not one.  A slot whose value is NULL stays as it is. */
void resume_expand(const struct strvec *words, const struct resume_slots *slots,
		   struct strvec *ret);
/* Like resume_expand(), but with session_id alone. */
void resume_push_template(struct strvec *ret, const struct strvec *words, const char *session_id);
/* Has every slot in these words a value? */
bool resume_can_expand(const struct strvec *words, const struct resume_slots *slots);

/* Does the agent take this as an id?  By its kind of id alone, without asking it. */
bool resume_takes_id(const struct agent *agent, const char *session_id);
/* What it takes, for messages: "a UUID"; static. */
const char *resume_id_text(const struct agent *agent);
/* A new id of the agent's kind for the instance, never one that it has or had: a UUID, a path in
 * state, a name made of the instance's id.  NULL: the agent takes none from us.  The caller frees. */
char *resume_new_id(const struct agent *agent, const struct instance *instance,
		    const char *state) MUST_USE;
/* The id in the first group of the pattern (an extended regular expression, line by line), in the
 * last line of text where there is one that the agent takes.  NULL: none, or no pattern.  The
 * caller frees. */
char *resume_match_id(const struct agent *agent, const char *pattern, const char *text) MUST_USE;
/* Does the agent want a directory that belongs to the instance, {state}? */
bool resume_needs_state(const struct agent *agent);

/* The id that the user's own argv carries (adopt flags), or NULL.  Borrowed from argv. */
const char *resume_adopted_id(const struct agent *agent, const struct strvec *argv);

/* The word of the user's own argv that asks for the latest conversation; that makes the agent
 * answer once and end; that asks for a copy of the conversation that it names.  NULL: there is
 * none.  Borrowed from argv. */
const char *resume_find_latest(const struct agent *agent, const struct strvec *argv);
const char *resume_find_one_shot(const struct agent *agent, const struct strvec *argv);
const char *resume_find_copy(const struct agent *agent, const struct strvec *argv);

/* What the ladder does when the process of the current attempt has ended. */
enum ladder_verdict {
	LADDER_NEXT,     /* the attempt failed: take the next rung */
	LADDER_ENDED,    /* the agent had been up and ended by itself: an ordinary exit */
	LADDER_EXHAUSTED /* the attempt failed and there is no other */
};
/* How an attempt's process ended. */
struct ladder_end {
	int code; /* exit status, when signal_number is 0 */
	int signal_number;
	int64_t lived_ms;
	bool is_unknown_id; /* its last words say that it does not have the conversation */
};

/* An attempt failed when it exited with its own status (1 to 127) before it reported a start
 * and before the probation was over, or because it does not have the conversation to resume: on a
 * slow machine it may say so later.  Exit 0, a signal, and the statuses that shells and agents
 * give for signals (128 and up) say nothing against the rung: the agent had its way, or a user
 * killed it, and the next rung might give up a conversation that is there. */
enum ladder_verdict resume_judge(const struct run *run, const struct ladder_end *end,
				 int64_t probation_ms);
