/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a main program comes by its state directory, and leaves it.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/deck/deck.h"
#include "engine/deck/incarnation.h"

struct takeover_order {
	const char *name; /* what the engine calls this incarnation, or NULL */
	int lease_s;      /* 0: the engine runs no two at once */
};

/* Kubernetes opens a volume to its fsGroup, at each mount.  Make private again what must be. */
void takeover_close_to_others(struct deck *deck);

/* Take the lock, wait until the last incarnation is proven gone, and write the new one.
 * ERROR_BUSY: the other one lives, or nothing can prove that it is gone.  TAKEOVER_ENDED: a signal
 * came meanwhile.  The lock and *ret are the caller's. */
enum { TAKEOVER_DONE = 1, TAKEOVER_ENDED = 2 };
int takeover(struct deck *deck, const struct takeover_order *order, struct fs_lock *ret_lock,
	     struct incarnation *ret, struct error *err);

/* Remove that runtime directory, as far as it is empty. */
void takeover_remove_runtime(const char *runtime);
