/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/usage.h"

#include "engine/place/alive.h"

#include <string.h>

static int64_t share(const struct place_usage *now, const struct place_usage *before)
{
	if (now->now.cpu_us < 0 || before->now.cpu_us < 0 || now->at_ms <= before->at_ms)
		return -1;
	/* Counted by process, the time of a process that ended before it was waited for is gone. */
	const int64_t used = now->now.cpu_us - before->now.cpu_us;
	return used < 0 ? 0 : used * 10 / (now->at_ms - before->at_ms);
}

void usage_read(struct usage *usage)
{
	const struct usage before = *usage;
	const struct place_run *run = &usage->entry->row.run;
	const struct place *place = place_of(run);
	*usage = (struct usage){ .entry = before.entry, .cpu = -1 };
	if (usage->entry->row.damage || !place_is_live(run))
		return;
	usage->server = run->server;
	place->usage(run, &usage->seen);
	if (process_same(&usage->server, &before.server))
		usage->cpu = share(&usage->seen, &before.seen);
}

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const void *first, const void *second, void *context)
{
	const struct usage *a = *(struct usage *const *)first, *b = *(struct usage *const *)second;
	enum usage_order order = *(const enum usage_order *)context;
	int by_title = strcmp(a->entry->row.title, b->entry->row.title);
	int by[] = {
		order == USAGE_BY_TITLE ? by_title : 0,
		order == USAGE_BY_CPU ? descending(a->cpu, b->cpu) : 0,
		order == USAGE_BY_TASKS ? descending(a->seen.now.tasks, b->seen.now.tasks) : 0,
		descending(a->seen.now.memory, b->seen.now.memory),
		descending(a->cpu, b->cpu),
		by_title,
	};
	for (size_t i = 0; i < ARRAY_SIZE(by); i++)
		if (by[i])
			return by[i];
	return 0;
}

void usage_sort(struct usage **items, size_t count, enum usage_order order)
{
	qsort_r(items, count, sizeof(struct usage *), compare, &order);
}
