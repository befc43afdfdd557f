/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tells when connections of this machine may have been cut: it gets or loses an address, or wakes
 * up from its sleep.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct network {
	int fd; /* readable: call network_take() */
	int addresses, clock;
};
#define NETWORK_NONE ((struct network){ -1, -1, -1 })

/* What the kernel does not offer is left out. */
int network_watch(struct network *ret, struct error *err);
/* Forget what has happened until now. */
void network_take(struct network *network);
void network_close(struct network *network);
#define cleanup_network CLEANUP(network_close)
