/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limits of one instance: changed in its manifest, and in its scope while it runs.
 */
#pragma once

#include "engine/deck.h"

struct limit_change {
	bool reset;             /* first forget what the instance says itself */
	bool given[LIMIT_COUNT]; /* of these limits it says from now on what stands in limits */
	struct limits limits;
};

/* When the limits hold: at once; from the next start on, since it does not run; from the next start in a scope on, since
 * it runs without one, or nobody can be asked to change it (a warning says why). */
enum limit_effect { LIMIT_EFFECT_NOW, LIMIT_EFFECT_NEXT_START, LIMIT_EFFECT_NEXT_SCOPE };

/* Under the instance's lock.  The manifest is written first, so an error of the manager (which says so) leaves limits that
 * hold from the next start on.  *ret is the caller's. */
int lifecycle_set_limits(struct deck *deck, const char *base, const struct limit_change *change,
			 enum limit_effect *ret_effect, struct instance **ret, struct error *err);
