/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Why an attempt of the ladder was planned.
 *
 * The words are in the manifest, in the log and in --json, so none is ever renamed.
 */
#pragma once

#include <stdbool.h>

enum reason {
	REASON_NONE,          /* nothing was written down */
	REASON_OTHER,         /* a word of another version */
	REASON_FRESH_SESSION, /* a first start: there is no history yet */
	REASON_NOTHING_WRITTEN_YET,
	REASON_CONVERSATION_DATA_PRESENT,
	REASON_FIRST_TURN_SEEN,
	REASON_ID_KNOWN,
	REASON_ID_IN_USERS_ARGUMENTS,
	REASON_ID_UNUSED, /* nothing was found under the id */
	REASON_ID_IN_USE, /* something may be under the id after all */
	REASON_ID_NOT_TAKEN,
	REASON_NO_ID_STORED,
	REASON_NO_ID_REPORTED_YET,
	REASON_NO_SESSION_IDS,
	REASON_FORKED,                 /* a start that copies another conversation */
	REASON_CONVERSATION_ELSEWHERE, /* resumed from a directory that is not the conversation's */
	REASON_TRANSCRIPT_WITHOUT_TURNS,
	REASON_PLACE_OF_ITS_OWN,
	REASON_DIRECTORY_OF_ITS_OWN,
	REASON_DIRECTORY_SHARED,
	REASON_RESUME_DISABLED, /* a user asked for a new conversation */
	/* A new id is used because the stored one could not be resumed.  The stored id is kept
	 * until the new conversation has a turn: the failure may pass. */
	REASON_RESUME_FAILED,
	REASON_SESSION_ARGUMENTS_FAILED,
	REASON_AGENT_DOES_NOT_START,
	REASON_COUNT
};

/* "fresh_session", ...; static.  NULL for REASON_NONE and REASON_OTHER. */
const char *reason_name(enum reason reason);
/* REASON_OTHER: it is not one of our words. */
enum reason reason_of_name(const char *name);
/* Like reason_of_name(), but for people, "its transcript has no messages"; a word of another
 * version is its own text.
 */
const char *reason_text(const char *name);
