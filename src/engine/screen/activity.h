/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a running agent is doing: busy, waiting (for its user), idle, or unknown, and since when.
 *
 * Its own reports come first (engine/conversation/report.h).  Only where none has said anything,
 * because the agent cannot report or has not yet, its screen is read by the patterns of its
 * registry entry. Where these fit nothing, it is unknown: nothing is guessed.  Either way the
 * answer is in the run's activity.json, with its source, and stays there until the next report
 * or look: listings show it and look at no screen.
 */
#pragma once

#include "engine/deck/deck.h"

/* Can what this session's agent is doing only be told by its screen?  Not while its server is not
 * there, was stopped or does not answer, and not for an agent without patterns. */
bool activity_needs_look(struct deck *deck, const struct store_row *row);

/* If so, look, for at most 2 s, and store what is found; a report that comes meanwhile counts.  A
 * server that does not answer is noted (runfiles_note_answer()), and the activity stays as it was. */
void activity_look(struct deck *deck, const struct store_row *row);
