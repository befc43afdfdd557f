/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is to be asked before an action: the deck's own confirmation, or what `agentdeck settle`
 * says about a session.
 */
#pragma once

#include "model/question/question.h"

enum ask_about {
	ASK_NOTHING,
	ASK_CONFIRM, /* CHOICE_CONTINUE: do it */
	ASK_END,     /* CHOICE_RETURN: do it; CHOICE_KEEP and CHOICE_CLEAN are for agentdeck */
	ASK_REUSE,   /* CHOICE_RETURN: do it */
	ASK_LAUNCH,  /* CHOICE_NEW: do it; CHOICE_RESUME: with that session */
	ASK_REMOVAL, /* CHOICE_KEEP: not this one; CHOICE_CLEAN: do it */
	ASK_PRUNE,   /* CHOICE_KEEP: nothing; CHOICE_CLEAN is for agentdeck */
	/* CHOICE_KEEP: nothing; CHOICE_ATTACH, CHOICE_FORK and CHOICE_TAKE are for agentdeck */
	ASK_CONFLICT,
};

enum { ASK_MOST = 2 };

/* Zero-initialised is nothing. */
struct ask {
	enum ask_about about;
	/* One after the other; the answer to the last one counts. */
	struct question questions[ASK_MOST];
	size_t count, next;
	char *id;       /* of the session; of a launch: the directory; "trash" */
	char *occasion; /* as of agentdeck settle */
	char *seen;     /* what would be lost, for agentdeck to compare */
	char *text;     /* what has just been done; or NULL */
	bool is_removed;
};
void ask_free(struct ask *ask);
#define cleanup_ask CLEANUP(ask_free)

/* ERROR_CORRUPT.  *ret is the caller's. */
int ask_parse(const char *text, struct ask *ret, struct error *err);
