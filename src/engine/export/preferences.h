/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's settings in a backup: config.toml, and the user's own agents.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/parcel.h"

/* Files that stay behind: the path of each, and why. */
struct preferences_left {
	struct strvec paths, reasons;
};
void preferences_left_clear(struct preferences_left *left);

/* Add them.  Files that do not exist are left out.  Those that cannot be read stay behind, and so
 * do agents' files that set variables, which may be secrets. */
void preferences_pack(struct deck *deck, struct parcels *ret, struct preferences_left *ret_left);

/* What would become of them: a line for each file that would be written (*ret_new), and one for
 * each that exists here and differs, or that cannot be used (*ret). */
void preferences_compare(struct deck *deck, const struct parcels *parcels, struct strvec *ret_new,
			 struct strvec *ret);

/* Write those that do not exist here.  Nothing is replaced.  Appends a line for each.  Those that
 * cannot be used are left out. */
int preferences_restore(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			struct error *err);
