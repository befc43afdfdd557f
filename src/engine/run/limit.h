/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limits of one instance: changed in its manifest, and in its scope while it runs.
 */
#pragma once

#include "engine/place/place.h"

struct limit_change {
	bool reset;              /* first forget what the instance says itself */
	bool given[LIMIT_COUNT]; /* these limits get the values in limits */
	struct limits limits;
};

/* Under the instance's lock.  The manifest is written first, so an error of the manager (which says
 * so) leaves limits that hold from the next start on.  *ret is the caller's. */
int lifecycle_set_limits(struct deck *deck, const char *base, const struct limit_change *change,
			 enum limit_effect *ret_effect, struct instance **ret, struct error *err);
/* Can the instance have them?  ERROR_USAGE: its container cannot. */
int lifecycle_check_limits(const struct instance *instance, const struct limit_change *change,
			   struct error *err);
