/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session that waits for its user next: in the order of attention_compare(), and after the last
 * one the first.
 */
#pragma once

#include "engine/roster/roster.h"

/* After the session of this id; NULL, or one that does not wait: the first in that order.
 * Never that session itself.  NULL: no other one waits. */
const struct roster_entry *roster_next_waiting(const struct roster *roster, const char *id);
