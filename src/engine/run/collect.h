/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reports of an agent in a container.  The capsule's hook writes each one durably to a file in the
 * directory that the container shares with this host; here they are taken, in their order, and
 * removed.
 *
 * The agent can write whatever it likes there.  So each file is read as what it claims to be, a
 * report of the run that it names, no link is followed, and the reading is bounded.
 */
#pragma once

#include "engine/deck/deck.h"

/* Take the reports of the instance of this base.  Without a container, or without reports: 0.  One
 * that cannot be used is logged and removed. */
int collect_reports(struct deck *deck, const char *base, struct error *err);
