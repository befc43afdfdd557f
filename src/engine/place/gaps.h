/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which limits are set, and cannot be enforced here: the kernel lacks a controller, or does not
 * delegate it to the user.  Code that sets or applies a limit says so.
 */
#pragma once

#include "engine/place/place.h"

void gaps_clear(struct limit_gaps *gaps);
#define cleanup_limit_gaps CLEANUP(gaps_clear)

/* The gaps in the limits that hold for the instance.  Nothing is asked where it has none. */
void gaps_find(struct deck *deck, const struct instance *instance, struct limit_gaps *ret);
/* Warn of the gaps that gaps_find() finds. */
void gaps_warn(struct deck *deck, const struct instance *instance);
/* Does this machine enforce any of the limits that hold for the instance?  True where it has none. */
bool gaps_leave_any(const struct deck *deck, const struct instance *instance,
		    const struct limit_gaps *gaps);

/* The gaps in the limits that the configuration sets anywhere, for sessions on this host: a text
 * each, appended to *ret. */
void gaps_of_settings(struct deck *deck, struct strvec *ret);
