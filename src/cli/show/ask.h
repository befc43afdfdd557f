/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A question on the terminal that the user can always get out of.
 */
#pragma once

#include "model/question/question.h"

#include <stdbool.h>

/* Whether the user can answer: a terminal on both sides. */
bool ask_is_possible(void);

/* Prompt for one line from the terminal.  *ret: the line without its end; the caller frees.
 * ASK_CANCELLED: q, Escape, Ctrl-C or the end of the input. */
enum { ASK_CANCELLED = 1 };
int ask_line(char **ret, struct error *err);

/* Print the question, and wait for "y" or "yes".  ASK_CANCELLED: any other answer, and the refusal
 * was printed, which says what was not done. */
int ask_yes(const char *question, const char *refusal, struct error *err);

/* Show the question as text, and wait for one of its choices.  *ret is borrowed from it.
 * ASK_CANCELLED: none, so nothing changes. */
int ask_question(const struct question *question, const struct choice **ret, struct error *err);
