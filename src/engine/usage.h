/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the running instances use.  Looks at files of the kernel only; asks no manager and no tmux server.
 */
#pragma once

#include "engine/deck.h"

struct usage {
	const struct store_row *row; /* borrowed from the list */
	/* Of its scope.  Without one, or where the kernel does not count by scope: of its processes, one by one, and -1 for what
	 * they do not tell. */
	struct unit_usage now;
	bool in_scope;
	int64_t at_ms;               /* clock_ms() of this reading */
	int64_t cpu;                 /* since the reading before, in hundredths of a percent of one processor; -1: there is none */
};

struct usage_list {
	struct store_rows rows;
	struct usage *items;
	size_t count;
};
void usage_list_free(struct usage_list *list);
#define cleanup_usage_list CLEANUP(usage_list_free)

/* Every instance of the profile that runs.  before: an earlier reading, or NULL. */
int usage_read(struct deck *deck, const struct usage_list *before, struct usage_list *ret,
	       struct error *err);

/* One that runs. */
void usage_read_row(const struct store_row *row, struct usage *ret);

enum usage_order { USAGE_BY_MEMORY, USAGE_BY_CPU, USAGE_BY_TASKS, USAGE_BY_TITLE };
bool usage_order_parse(const char *name, enum usage_order *ret);
/* The greatest first, then by what is left of memory, processor and title. */
void usage_sort(struct usage_list *list, enum usage_order order);
