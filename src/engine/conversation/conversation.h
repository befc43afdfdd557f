/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which conversation an instance comes back to: facts from disk, ownership, and the plan made of
 * them.
 */
#pragma once

#include "driver/transcript/transcript.h"
#include "engine/deck/deck.h"
#include "model/plan/resume.h"

/* Before a start of an instance whose last run was in another instance's conversation
 * (conversation.shared).  Without an owner, that conversation becomes this instance's.  Else, and
 * while a session cannot be read, the plan tells the user, and the instance returns to its own.
 * *lock is held afterwards if there was such a conversation (owner_lock()).
 *
 * These functions change the instance in memory.  After -1 it may be half changed. */
int conversation_reclaim_and_log(struct deck *deck, struct instance *instance, struct fs_lock *lock,
				 struct error *err);

/* Does what conversation_reclaim_and_log() does, without the lock and the log: for what a start
 * would do. */
int conversation_reclaim(struct deck *deck, struct instance *instance, struct error *err);

/* Choose the conversation's id before a start: keep the stored one; else adopt what the user's argv
 * carries; else, for an agent whose transcripts we know, the newest transcript of this directory
 * that no other session has or had, also one in the trash (docs/session-id-lifecycle.md,
 * Discovery); else leave it empty, for the plan to mint one.
 * *ret_fact tells what is known of its transcript. */
int conversation_choose_and_log(struct deck *deck, struct instance *instance,
				const struct agent *agent, enum transcript_fact *ret_fact,
				struct error *err);

/* Does what conversation_choose_and_log() does, without a fork on disk and the log: for what a
 * start would do. */
int conversation_choose(struct deck *deck, struct instance *instance, const struct agent *agent,
			enum transcript_fact *ret_fact, struct error *err);

/* The newest transcript with turns of the instance's directory and home that no other session of
 * any profile has or had, and that this one has not left.  TRANSCRIPT_NONE: there is none, or the
 * agent's transcripts cannot be looked at.
 */
int conversation_latest(struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct transcript *ret, struct error *err);

/* ERROR_EXISTS, naming the holder, when another live instance (of any profile) has the conversation
 * that the instance is about to run; for an agent that comes back to the latest conversation of its
 * directory, when another one is live in this directory.  A
 * session in which the user has only picked it (HOLDING_PICKED) does not refuse the claim: it only
 * adds a warning.  The lock that makes this and the save that follows one step is *lock
 * (owner_lock()): held, if there is something to claim, until it is unlocked. */
int conversation_claim(struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct fs_lock *lock, struct error *err);

/* Another session that has the conversation of an instance, or what its agent would take for that.
 * Zero-initialised is none. */
enum holding {
	HOLDING_NOTHING,
	HOLDING_OPEN,      /* the conversation itself: a claim is refused */
	HOLDING_DIRECTORY, /* the latest of the directory, which its agent resumes: likewise */
	HOLDING_PICKED,    /* its user has picked the conversation there: a claim only warns */
};
struct conversation_holder {
	enum holding holding;
	char *base, *id, *title, *agent, *directory;
	char *profile; /* NULL: the deck's own */
	char *host;    /* for people; NULL: it runs on this machine */
	int64_t since; /* when it has been in its state; µs since the Epoch */
	struct process_id server, pane;
};
void conversation_holder_clear(struct conversation_holder *holder);
#define cleanup_conversation_holder CLEANUP(conversation_holder_clear)

/* What conversation_claim() would find now: the holder that it refuses for, else the first that it
 * warns of.  Claims nothing.  *ret is the caller's. */
int conversation_find_holder(struct deck *deck, const struct instance *instance,
			     const struct agent *agent, struct conversation_holder *ret,
			     struct error *err);

enum plan_purpose {
	PLAN_RESUME,
	PLAN_FRESH,    /* without the old conversation */
	PLAN_FORETELL, /* what a start would do: makes and writes nothing */
};

struct place_order; /* engine/place/place.h */

/* One plan, and what it is for.  All borrowed. */
struct planning {
	struct deck *deck;
	const struct place_order *order; /* of the command that makes one; unused by PLAN_FORETELL */
	struct instance *instance;
	const struct agent *agent;
	enum transcript_fact fact;
	enum plan_purpose purpose;
};

/* Plan the ladder of a prepared run, and store what the plan settled: a new id (for an agent that
 * makes its conversations first: made by it, engine/conversation/create.h), the resolved resume
 * command, what the user is told about the history.  The directory of the instance is made if the
 * agent wants one. */
int conversation_plan(const struct planning *planning, struct error *err);

/* What the ladder of a start would be: all of the above but for what they make and write, and for
 * the id of an agent that makes its conversations first.  It is a look: it waits for no lock, and
 * logs nothing.  ERROR_EXISTS where a claim would be refused; what a claim would warn of is in
 * deck->warnings.  The instance's run is then that plan; it is not for store_save(). */
int conversation_foretell(struct deck *deck, struct instance *instance, const struct agent *agent,
			  struct error *err);

/* What holds for a start of it: its own policy, else its agent's, else the general one. */
enum resume_policy conversation_policy(const struct deck *deck, const struct instance *instance);

/* The agent has ended, and these are its last words: an id in them (exit_banner) becomes the
 * conversation's, when no report of this run has named one and no other instance has it.  One that
 * another instance owns is noted as shared.  True: the instance was changed. */
bool conversation_take_words(struct deck *deck, struct instance *instance, const char *words);

/* An id that only the run used so far (a fresh one after a lost history) becomes the
 * conversation's. */
void conversation_commit(struct instance *instance);
