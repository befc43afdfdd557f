/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor's deputy: what `agentdeck attach` does while the terminal shows a session.
 *
 * While no supervisor runs, it gives the notices that else the supervisor gives
 * (engine/supervise/notify.h).  Of several attached terminals one gives each notice: the first one
 * writes it into the state directory.  Without [notify] it follows nothing.
 *
 * And it shows the status line again when the terminal has been attached: the one that attach has
 * brought along may be out of date by then.
 *
 * The deputy prints nothing and polls nothing: it runs only when its watch is readable.
 * A failure is logged, and the terminal does not notice.
 */
#pragma once

#include "base/child.h"
#include "engine/deck/deck.h"

struct deputy;

/* For a terminal that is about to be attached to this instance.  deck and instance outlive it.
 * NULL: it could not be made. */
struct deputy *deputy_begin(struct deck *deck, const struct instance *instance) MUST_USE;

/* To be served while it is attached.  NULL without a deputy.  Borrowed. */
const struct child_watch *deputy_watch(const struct deputy *deputy);

/* Gives what is due, such as the notice of the end of the session that was attached.  NULL is
 * fine. */
void deputy_end(struct deputy *deputy);
CLEANUP_OF(deputy_endp, struct deputy, deputy_end);
#define cleanup_deputy CLEANUP(deputy_endp)
