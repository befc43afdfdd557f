/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a running session uses.
 */
#pragma once

#include "engine/place/place.h"
#include "engine/roster/roster.h"

struct usage {
	const struct roster_entry *entry; /* borrowed */
	struct process_id server;         /* whose usage was seen; pid 0: it does not run */
	struct place_usage seen;
	/* since the reading before, in hundredths of a percent of one processor; -1: there is none */
	int64_t cpu;
};

/* Read it, or read it again. */
void usage_read(struct usage *usage);

enum usage_order { USAGE_BY_MEMORY, USAGE_BY_CPU, USAGE_BY_TASKS, USAGE_BY_TITLE };
/* The greatest first, then by what is left of memory, processor and title. */
void usage_sort(struct usage **items, size_t count, enum usage_order order);
