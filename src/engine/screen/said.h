/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent's transcript says of a message to it: whether the agent took it, and its reply.
 *
 * Sequence: said_mark() before the message is sent, then said_look() as often as wanted.  Only what
 * was written after the mark counts, so an earlier message with the same words is another one.
 */
#pragma once

#include "driver/transcript/transcript.h"
#include "engine/deck/deck.h"

#include <sys/types.h>

/* Find the file of the session's conversation.  *ret_files: the description of its agent's files;
 * borrowed.  SAID_NONE: there is no file yet.  ERROR_INVALID: the agent writes none that agentdeck
 * can read; the message is for a caller that needs one. */
enum { SAID_NONE = 1 };
int said_find(struct deck *deck, const struct instance *instance, struct transcript *ret,
	      const struct agent_files **ret_files, struct error *err);

/* Where the transcript ended.  All zero: there was none. */
struct said_mark {
	char *path;
	int64_t size;
	ino_t inode;
	bool is_unknown; /* it could not be read */
};
void said_mark_free(struct said_mark *mark);
#define cleanup_said_mark CLEANUP(said_mark_free)

/* Note where the transcript ends.  On failure the mark is unknown, and no look after it finds
 * anything: what is in the transcript may be older than the message. */
int said_mark(struct deck *deck, const struct instance *instance, struct said_mark *ret,
	      struct error *err);

struct said {
	bool is_taken;    /* the transcript has the message, as a prompt or in the queue */
	bool is_over;     /* the reply is the last word of its turn */
	bool is_followed; /* by another prompt */
	bool is_error;    /* the reply is the agent's word that its model failed */
	char *reply;      /* the agent's last words in that turn, unchanged; NULL: none */
	char *path;       /* of the transcript */
};
void said_free(struct said *said);
#define cleanup_said CLEANUP(said_free)

/* text: the message.  NULL: a command that the agent takes for itself, which a transcript may not
 * contain; then the first turn after the mark is the reply.  SAID_NONE and errors as
 * said_find(). */
int said_look(struct deck *deck, const struct instance *instance, const struct said_mark *mark,
	      const char *text, struct said *ret, struct error *err);

/* Did the agent take the message?  *seen is zero at first: the next call reads only what was
 * written after it. */
bool said_is_taken(struct deck *deck, const struct instance *instance, const struct said_mark *mark,
		   struct said_mark *seen, const char *text);
