/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some space on the disk of the state directory, for what has to be written when it is full: that a
 * session was stopped.
 */
#pragma once

#include "driver/store/store.h"

/* Make the reserve if there is none and the disk has plenty of room.  A failure means none. */
void reserve_keep(const struct store *store);

/* Give its space back to the disk.  False: there is no reserve. */
bool reserve_spend(const struct store *store);
