/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What finding and taking share.
 */
#pragma once

#include "engine/adopt/adopt.h"
#include "engine/adopt/farewell.h"

/* Is it this process, or one below it? */
bool adopt_is_below(pid_t pid, pid_t ancestor);

/* How to end it.  Borrows from find. */
struct farewell adopt_farewell(const struct deck *deck, const struct adopt_find *find);
