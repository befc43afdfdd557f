/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the deck's list shows of what the roster knows.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/state/list.h"

/* The texts are borrowed from the entry. */
struct facts facts_of(const struct roster_entry *entry);
