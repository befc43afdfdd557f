/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a container of a session has mounted.
 */
#pragma once

#include "engine/place/container/container-internal.h"

/* The texts are owned. */
struct mounting {
	struct engine_mount *items;
	size_t count;
};
void mounting_clear(struct mounting *mounts);
#define cleanup_mounting CLEANUP(mounting_clear)

void mounting_add(struct mounting *mounts, const char *source, const char *target, bool read_only);
/* Everything has the path that it has on this host, but for our programs. */
void mounting_collect(const struct ladder *ladder, struct mounting *ret);
