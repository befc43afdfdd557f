/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the sessions use, for the columns of a wide deck: memory and processor.
 *
 * The figures are read when a frame is drawn because of a key or an event, and at most every 2 s.
 * They are read again 2 s later only while one of these sessions is busy, or used more than 1 % of
 * a processor.  So a deck whose agents are idle sleeps; an agent that makes no reports and begins
 * to work is seen with the next key or event.
 *
 * Only the visible sessions are read, or all of them when they are sorted by memory, and none while
 * the columns are not there.
 */
#pragma once

#include "base/loop.h"
#include "engine/roster/roster.h"
#include "ui/state/ui.h"

struct meter;

/* All outlive it.  *is_changed becomes true when there is something to draw. */
int meter_new(struct loop *loop, const struct roster *roster, struct ui *ui, bool *is_changed,
	      struct meter **ret, struct error *err);
void meter_free(struct meter *meter);
CLEANUP_OF(meter_freep, struct meter, meter_free);
#define cleanup_meter CLEANUP(meter_freep)

/* Call it after each frame. */
void meter_settle(struct meter *meter);

/* Call it before the session leaves the list. */
void meter_forget(struct item *item);
