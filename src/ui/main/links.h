/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the sessions of the other hosts of config.toml in the list true.  For each host a process
 * of its own, `agentdeck -H HOST events --json`, holds the link (docs/link.md) beside the deck's
 * loop, and ends with the deck.  So a host that does not answer delays no key and no other host.
 *
 * A link that ends is made again after 1 s, then less often, at most once a minute.  Meanwhile the
 * sessions stay in the list as they were told last, and are away (ui/state/list.h).
 */
#pragma once

#include "engine/deck/deck.h"
#include "ui/main/errand.h"

struct links;

/* Make the hosts the top of the tree, before the first session is in the list.  *ret: NULL if there
 * are none.  errands and deck outlive it; links_free() is before the end of the loop. */
int links_new(struct errands *errands, struct deck *deck, struct links **ret, struct error *err);
void links_free(struct links *links);
/* After the first frame: connect.  NULL is fine. */
void links_begin(struct links *links);
/* Try at once to reach this host of the list (SIZE_MAX: each), if it does not answer. */
void links_retry(struct links *links, size_t host);
