/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What lists show of what the roster knows.
 */
#pragma once

#include "engine/roster/roster.h"
#include "model/session/facts.h"

/* The texts are borrowed from the entry. */
struct facts facts_of(const struct roster_entry *entry);
/* Borrowed likewise. */
struct attention facts_attention(const struct roster_entry *entry);
