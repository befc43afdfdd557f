/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a running agent is doing: busy, waiting (for its user), idle, or unknown, and since when.
 *
 * The latest word counts: a report of the agent (engine/conversation/report.h), or its screen, read
 * by the patterns of its registry entry after something was printed there.  A report is newer than
 * the screen for a second and a half, since agents report before they draw.  After that the screen
 * can contradict it, if two looks agree: agents do not report that their user interrupted them,
 * answered a question, or is asked something before the first turn.  Where the patterns fit
 * nothing, the screen tells nothing against a report, and for an agent without reports the activity
 * is unknown: nothing is guessed.
 *
 * The answer is in the run's activity.json, with its source, and stays there until the next report
 * or look.
 */
#pragma once

#include "engine/deck/deck.h"

/* Such an event has kinds, and without one it may say that the agent waits at its prompt. */
struct agent;
bool activity_may_be_at_prompt(const struct agent *agent, const char *event);

/* Can a look at its screen change what is known? */
bool activity_can_change(struct deck *deck, const struct store_row *row);

/* The terminal in which its agent prints, a device of this machine; NULL: there is none, or a look
 * cannot change anything.  The caller frees. */
char *activity_terminal(struct deck *deck, const struct store_row *row) MUST_USE;

/* May something have been printed since what is known, and is that more than 5 s old?  Runs no
 * program. */
bool activity_is_old(struct deck *deck, const struct store_row *row);

/* How long the screen cannot contradict its last report yet; 0: it can, or there is none. */
int64_t activity_young_ms(const struct store_row *row);

/* Would a look at this screen, which may have escape sequences, change what is stored, now or when
 * the report is not young any more?  Runs no program. */
bool activity_differs(struct deck *deck, const struct store_row *row, const char *styled);

/* Note that the session's screen was looked at now, and does not differ. */
void activity_note_look(const struct store_row *row);

/* If a look can change it: look, for at most 4 s, and store what is found; a report that comes
 * meanwhile counts.  A server that does not answer is noted (runfiles_note_answer()), and the
 * activity stays as it was. */
void activity_look(struct deck *deck, const struct store_row *row);
