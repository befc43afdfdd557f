/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where an instance's conversation is, and the directory that its agent has to be started in to
 * find it (conversation.directory): an agent may move its conversation to another directory
 * (claude's /cd), or make a separate one (a git worktree).
 *
 * Only the transcript proves a move.  A tool that changes its directory leaves the transcript where
 * it was.
 */
#pragma once

#include "driver/transcript/transcript.h"
#include "engine/deck/deck.h"

/* Can this agent's transcripts be looked at? */
bool location_is_known(const struct agent *agent);

/* The transcript of this conversation, which need not be the instance's, in its config home and its
 * directories.  TRANSCRIPT_NONE: there is none. */
int location_find(const struct instance *instance, const char *session_id, struct transcript *ret,
		  struct error *err);

/* If the user's home directory has a new path, update the path of the agent's home in it. True: the
 * instance was changed.  A home that is not the default is kept.  So is one that still exists,
 * unless only today's default has the conversation, or has it in the same state. */
bool location_settle_home(const struct deck *deck, struct instance *instance,
			  const struct agent *agent);

/* Can these be one home of the agent, before and after its user's home directory was moved? Each
 * may be NULL.  Without the agent, only equal paths are the same home. */
bool location_same_home(const struct agent *agent, const char *one, const char *other);

/* Set the agent's home to this one (a real path).  ERROR_NOT_FOUND: it does not have the
 * conversation. */
int location_set_home(const struct deck *deck, struct instance *instance, const struct agent *agent,
		      const char *home, struct error *err);

/* Look for the transcript of the stored id, and follow it where it has moved.  *ret says what was
 * found.  For an agent whose transcripts can be looked at, and an instance with an id and a config
 * home.  A move is logged. */
int location_settle(struct instance *instance, enum transcript_fact *ret, struct error *err);

/* Like location_settle(), but in memory, for a look: the log says nothing. */
int location_look(struct instance *instance, enum transcript_fact *ret, struct error *err);

/* Log that the conversation is not in this launch directory any more, if that is so. */
void location_log(const struct instance *instance, const char *before);

/* Like location_log(), but where there is something to look at, and nothing else. */
int location_refresh(struct instance *instance, const struct agent *agent, struct error *err);

/* The session's directory is now this one (a real path): where its agent is started follows from
 * that, and the transcript is copied to where the agent looks for it if that is wished. */
enum location_outcome {
	LOCATION_NONE,      /* there is no transcript to look at */
	LOCATION_HERE,      /* the agent finds its conversation from the new launch directory */
	LOCATION_COPIED,    /* and that is so because its transcript was copied */
	LOCATION_ELSEWHERE, /* not every version of the agent finds it from there */
};
int location_move(struct instance *instance, const struct agent *agent, const char *directory,
		  bool copies, enum location_outcome *ret, struct error *err);

/* A copy (forked_from) is being made: note how far its original is now. */
void location_note_fork(struct instance *instance, const struct agent *agent);

/* A copy has only what its original had when the copy was asked for.  If the original has grown
 * since, make the transcript of the copy here, for the instance.  *ret: it was made. */
int location_make_fork(struct instance *instance, const struct agent *agent, bool *ret,
		       struct error *err);

/* A report says where the transcript is, and what the agent's directory is: does that move the
 * conversation? True: conversation.directory was changed. */
bool location_learn(struct instance *instance, const struct agent *agent,
		    const char *transcript_path, const char *cwd);

/* A new conversation begins in the instance's own directory where the one of the last is missing. */
void location_forget_missing(struct instance *instance);

/* Is the home there that the user chose for the agent, if it has the conversation? A disk may not
 * be mounted.  ERROR_NOT_FOUND says what to do. */
int location_check_home(const struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct error *err);

/* Is the launch directory there?  ERROR_NOT_FOUND says where the conversation is, and what to do. */
int location_check(const struct deck *deck, const struct instance *instance, struct error *err);
