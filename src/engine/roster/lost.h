/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was lost: sessions that are to run, and do not, so that `agentdeck recover` would restart
 * them.
 */
#pragma once

#include "engine/roster/roster.h"
#include "model/question/question.h"

struct lost {
	size_t in_restart; /* with the machine's last restart */
	size_t otherwise;  /* a server or an agent that was killed */
};

/* Counts those of a roster that was read.  Not those that are held now: only their user can help. */
struct lost roster_lost(const struct roster *roster);

/* Name them in the question (question_of_recovery()), with what each was lost by. */
void lost_tell(const struct roster *roster, struct question *question);
