/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A question to the user: what is asked, why, with what evidence, and what each answer does.  It is
 * made once, and shown in several ways: as text on a terminal (question_text(), cli/show/prompt.h),
 * as a dialog, as JSON.
 *
 * The contract with the code that shows it:
 *   - show the title, the lines, all of the evidence and the choices, in this order, as they are:
 *     every text is safe for a terminal (visible());
 *   - the first choice is the default; it never loses anything (question_add_choice() sees to it);
 *   - a choice with .loses is never the default, and looks different from the others;
 *   - Ctrl-C, Escape and the end of the input mean CHOICE_NONE, which changes nothing;
 *   - who cannot show it on a terminal does not answer in the user's place.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"
#include "model/workspace/verdict.h"

enum choice_kind {
	CHOICE_NONE,     /* not answered: nothing changes */
	CHOICE_CONTINUE, /* seen: ask the next question */
	CHOICE_RETURN,   /* keep working in the session */
	CHOICE_KEEP,     /* end it, and keep everything that is needed to continue later */
	CHOICE_CLEAN,    /* end it, and delete everything of it, also what would be lost */
	CHOICE_NEW,      /* a new session */
	CHOICE_RESUME,   /* the session that the choice names */
	CHOICE_ATTACH,   /* go to the session that has the conversation */
	CHOICE_FORK,     /* begin another session with a copy of the conversation */
	CHOICE_TAKE,     /* end who has the conversation, and start this session with it */
	CHOICE_COUNT
};

struct choice {
	enum choice_kind kind;
	char *label;   /* "Exit and keep" */
	char *effect;  /* "preserve everything, ..."; "" for none */
	char *session; /* of CHOICE_RESUME: id of that session; else NULL */
	bool loses;    /* something may be lost for good: CHOICE_CLEAN */
};

/* A list of what the question is about: "uncommitted", and the files. */
struct evidence {
	char *heading;
	struct strvec items;
	int64_t more; /* that were left out of items */
};

/* Zero-initialised is empty.  The struct owns everything. */
struct question {
	char *title;         /* "session ended" */
	struct strvec lines; /* for people; "" is an empty line */
	struct evidence *evidence;
	size_t evidence_count;
	char *prompt; /* "How should this session end?" */
	struct choice *choices;
	size_t choice_count;
};

/* Begin one.  Any bytes; they are made visible(). */
void question_begin(struct question *question, const char *title, const char *prompt);
void question_add_line(struct question *question, const char *format, ...) PRINTF_LIKE(2, 3);
/* A list with this heading, and then what is in it. */
void question_add_evidence(struct question *question, const char *heading);
void question_add_item(struct question *question, const char *format, ...) PRINTF_LIKE(2, 3);
/* What the verdict says would be lost: a list for each kind.  Nothing for a safe one. */
void question_add_losses(struct question *question, const struct verdict *verdict);
/* effect may be "".  The first one must not lose anything. */
void question_add_choice(struct question *question, enum choice_kind kind, const char *label,
			 const char *effect);
/* CHOICE_RESUME of the session with this id. */
void question_add_session(struct question *question, const char *id, const char *label,
			  const char *effect);

/* Everything of it, with the choices numbered from 1, unless there is only one; lines end with a
 * newline. */
void question_add_text(const struct question *question, struct strbuf *buf);
/* The choice that a user means who has typed this: its number, or the beginning of its label that
 * no other has; nothing is the default.  NULL: none.  Borrowed. */
const struct choice *question_parse(const struct question *question, const char *typed);

/* {"title", "lines", "evidence": [{"heading", "items", "more"}], "prompt", "choices": [{"kind",
 * "label", "effect", "session", "loses"}]}.  The caller puts it. */
struct json_object *question_to_json(const struct question *question) MUST_USE;

/* The reverse.  ERROR_CORRUPT: it is no question, or its first choice loses something.  *ret is
 * the caller's. */
int question_from_json(struct json_object *object, struct question *ret, struct error *err);

/* "return", "keep", ...; static. */
const char *choice_kind_name(enum choice_kind kind);

void question_free(struct question *question);
#define cleanup_question CLEANUP(question_free)
