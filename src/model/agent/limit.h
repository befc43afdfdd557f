/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A usage limit that an agent announces: on its screen, or as the error of a turn.
 *
 * The patterns are in its registry entry (screen.limit).  Their first group is the text that says
 * when the limit ends, in the agent's time zone.
 */
#pragma once

#include "model/agent/registry.h"

/* Does the text announce a limit?  *ret_until: when it ends, in µs since the Epoch; 0: the text
 * does not say so in a form that is known. */
bool limit_announced(const struct agent *agent, const char *text, int64_t now_us,
		     int64_t *ret_until);

/* The moment that "3:27 PM", "2:55pm (UTC)", "Dec 2, 1:47am (Europe/Berlin)" or "Dec 2nd, 2026 1:47
 * AM" names: the next one, or one that has just passed.  Without a zone it is this process's.
 * 0: it is none of these, or more than 40 days away. */
int64_t limit_moment(const char *text, int64_t now_us);
