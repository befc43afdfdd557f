/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lease of a main program, in two processes of their own, which execute no program.
 *
 * One renews it, and may hang in a file system that does not answer.  The other one, the keeper,
 * touches no file but /proc.  When the lease was not renewed in time, another main program has the
 * state directory, or the main program itself is gone, it ends everything that the main program has
 * started, and then itself.
 */
#pragma once

#include "base/process.h"
#include "engine/deck/incarnation.h"

/* Returns the keeper: a child of the caller, which ends all itself when that ends before it.  Call
 * it while the caller has one thread. */
int lease_keep(const char *state, const struct incarnation *incarnation, struct process_id *ret,
	       struct error *err);
