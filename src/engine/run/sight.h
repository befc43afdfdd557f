/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The archive: what is in it is out of sight and kept.  An archived session is not to run, so
 * nothing starts it by itself.  A start takes it out of the archive (state_apply()).
 */
#pragma once

#include "engine/deck/deck.h"

enum { SIGHT_SAME = 1 }; /* it was so before */
/* What was to be decided about its last end (engine/run/ending.h) is decided then: everything
 * stays. stops: end what runs first; else ERROR_INVALID. */
int lifecycle_archive(struct deck *deck, const char *base, bool stops, struct error *err);
int lifecycle_unarchive(struct deck *deck, const char *base, struct error *err);
