/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the form for a new session offers, from the outside world.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/state/form.h"
#include "ui/state/list.h"

/* The agents of the registry, and the directories and groups of the sessions.  What cannot be read
 * is left out.  *ret is empty before, and the caller's. */
void supply_gather(struct deck *deck, const struct roster *roster, struct form_supply *ret);
/* Where the session of this line works.  Of a group: where most of the sessions in it and below do,
 * among the last 50 used; of two such, the one used last.  NULL: unknown.  The caller's. */
char *supply_start(struct deck *deck, const struct roster *roster,
		   const struct line *line) MUST_USE;
/* Append the names of the directories in this one, sorted; none where it cannot be read. */
void supply_directories(const char *directory, struct strvec *ret);
