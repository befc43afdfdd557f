/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which conversation an instance comes back to: facts from disk, ownership, and the plan made of them.
 */
#pragma once

#include "engine/deck.h"
#include "model/resume.h"

/* Settle the conversation's id before a start: keep the stored one; else adopt what the user's argv
 * carries; else, for an agent whose transcripts we know, the newest transcript of this directory
 * that no other instance owns (REQ-7); else leave it empty, for the plan to mint one.
 * *ret_fact tells what is known of its transcript. */
int conversation_settle(struct deck *deck, struct instance *instance, const struct agent *agent,
			enum transcript_fact *ret_fact, struct error *err);

/* ERROR_EXISTS, naming the holder, when another live instance (of any profile) has the conversation that
 * the instance is about to run.  The lock that makes this and the save that follows one step is
 * *ret: held until it is unlocked. */
int conversation_claim(struct deck *deck, const struct instance *instance, struct fs_lock *ret,
		       struct error *err);

/* Plan the ladder of a prepared run, and store what the plan settled: a minted id, the resolved resume
 * command. */
int conversation_plan(struct deck *deck, struct instance *instance, const struct agent *agent,
		      enum transcript_fact fact, bool resume_wish, struct error *err);

/* An id that only the run used so far (a fresh one after a lost history) becomes the conversation's. */
void conversation_commit(struct instance *instance);
