/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's settings in a backup: config.toml, and the agents of the user's own.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/parcel.h"

/* Add them.  Files that do not exist are left out.  So is an agent whose file sets variables, which
 * may be secrets; *ret_left gets its path. */
int preferences_pack(struct deck *deck, struct parcels *ret, struct strvec *ret_left,
		     struct error *err);

/* What would become of them: a line for each file that exists here and differs, which stays. */
int preferences_compare(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			struct error *err);

/* Write those that do not exist here.  Nothing is replaced.  Appends a line for each. */
int preferences_restore(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			struct error *err);
