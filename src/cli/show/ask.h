/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A question on the terminal that the user can always get out of.
 */
#pragma once

#include "cli/core/command.h"
#include "model/question/question.h"

#include <stdbool.h>

/* Whether the user can answer: a terminal on both sides. */
bool ask_is_possible(void);

/* Prompt for one line from the terminal.  *ret: the line without its end; the caller frees.
 * ASK_CANCELLED: q, Escape, Ctrl-C or the end of the input. */
enum { ASK_CANCELLED = 1 };
int ask_line(char **ret, struct error *err);

/* A question that is answered by yes or no, or by an option of the command. */
struct consent {
	const char *question;
	const char *refusal; /* what the answer no leaves: "Nothing was deleted." */
	const char *option;  /* that says yes: "--force".  Static */
	const char *without; /* the error without a terminal */
	enum error_code code;
};
/* Ask for it.  0: yes; ASK_CANCELLED: no, and the refusal was printed.  Without a terminal, or with
 * --json, the error is what the consent says, and a failure in JSON has the question. */
int ask_consent(struct app *app, const struct consent *consent, struct error *err);

/* Print the question, and wait for "y" or "yes".  ASK_CANCELLED: any other answer, and the refusal
 * was printed, which says what was not done. */
int ask_yes(const char *question, const char *refusal, struct error *err);

/* Show the question as text, and wait for one of its choices.  *ret is borrowed from it.
 * ASK_CANCELLED: none, so nothing changes. */
int ask_question(const struct question *question, const struct choice **ret, struct error *err);
