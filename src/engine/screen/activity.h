/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a running agent is doing: busy, waiting (for its user), idle, or unknown, and since when.
 *
 * Its own reports come first (engine/conversation/report.h).  Only where none has said anything,
 * because the agent cannot report or has not yet, its screen is read by the patterns of its
 * registry entry. Where these fit nothing, it is unknown: nothing is guessed.  Either way the
 * answer is in the run's activity.json, with its source, and stays there until the next report
 * or look: listings show it and look at no screen.
 *
 * One report can be contradicted: that the agent waits for its user, some seconds after it, by a
 * screen without a question that says that the agent works.  Many agents report nothing when their
 * question is answered.  From then on until the next report the screen counts.
 */
#pragma once

#include "engine/deck/deck.h"

/* Can what this session's agent is doing only be told by its screen?  Not while its server is not
 * there, was stopped or does not answer, and not for an agent without patterns. */
bool activity_needs_look(struct deck *deck, const struct store_row *row);

/* Can a look at its screen change what is known: as above, or a report that can be contradicted? */
bool activity_can_change(struct deck *deck, const struct store_row *row);

/* How long the report that it waits is not to be contradicted yet; 0: it can be, or there is none. */
int64_t activity_young_ms(const struct store_row *row);

/* Would a look at this screen, which may have escape sequences, change what is stored, now or when
 * the report is not young any more?  Runs no program. */
bool activity_differs(struct deck *deck, const struct store_row *row, const char *styled);

/* If a look can change it: look, for at most 4 s, and store what is found; a report that comes
 * meanwhile counts.  A server that does not answer is noted (runfiles_note_answer()), and the
 * activity stays as it was. */
void activity_look(struct deck *deck, const struct store_row *row);
