/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a user is asked before something is done: nothing, one question, or two in a row, of which
 * the answer to the last one counts.  They are made in one place (cli/cmd/asking.h) and asked in
 * three ways:
 *
 *   in lines      cli/cmd/decide.h, on the terminal of the command
 *   in the deck   ui/state/ui-ask.c, as dialogs
 *   by a program  `agentdeck settle --json` prints them, and `--answer` is its user's choice
 *
 * Every way has the same answers and the same default, and an answer that loses something carries
 * the digest of what was shown.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/question/question.h"

enum question_about {
	ABOUT_NOTHING,
	ABOUT_CONFIRM, /* an action of the deck's.  CHOICE_CONTINUE does it */
	/* A session's agent ended by itself.  CHOICE_RETURN starts it; CHOICE_KEEP, CHOICE_CLEAN */
	ABOUT_END,
	ABOUT_REUSE,   /* its tree has changed since it was kept.  CHOICE_RETURN starts it */
	ABOUT_LAUNCH,  /* sessions ended where another one is to be.  CHOICE_NEW, CHOICE_RESUME */
	ABOUT_REMOVAL, /* only its tree has what it has.  CHOICE_CLEAN removes it */
	ABOUT_PRUNE,   /* removed sessions.  CHOICE_CLEAN deletes them for good */
	/* Another one has its conversation.  CHOICE_KEEP starts nothing; CHOICE_ATTACH,
	 * CHOICE_FORK, CHOICE_TAKE */
	ABOUT_CONFLICT,
	ABOUT_COUNT
};

enum { QUESTIONS_MOST = 2 };

/* Zero-initialised asks nothing.  The struct owns everything. */
struct questions {
	enum question_about about;
	struct question items[QUESTIONS_MOST];
	size_t count;
	size_t next;     /* how many of them were asked; for the caller */
	char *id;        /* of the session; of a launch: its directory; else "" */
	char *occasion;  /* what the user is about to do: "start", "remove" */
	char *seen;      /* digest of what is shown, for an answer that loses or ends something */
	char *text;      /* what was done already, or is undecided, for people; or NULL */
	bool is_removed; /* nothing is left to ask about: what was due has removed the session */
};
void questions_free(struct questions *questions);
#define cleanup_questions CLEANUP(questions_free)

/* Add an empty question, at most QUESTIONS_MOST. */
struct question *questions_add(struct questions *questions, enum question_about about);

/* {"id", "occasion", "about", "questions", "seen", "removed", "text"}; the caller's. */
struct json_object *questions_to_json(const struct questions *questions) MUST_USE;
/* The reverse.  ERROR_CORRUPT: these are no questions.  *ret is the caller's. */
int questions_parse(const char *text, struct questions *ret, struct error *err);
