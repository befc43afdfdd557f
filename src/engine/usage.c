/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/usage.h"

#include "base/clock.h"
#include "base/procusage.h"
#include "engine/oom.h"
#include "engine/view.h"

#include <string.h>

void usage_list_free(struct usage_list *list)
{
	free(list->items);
	store_rows_free(&list->rows);
	*list = (struct usage_list){ 0 };
}

static const struct unit_usage UNKNOWN = {
	.memory = -1, .memory_peak = -1, .swap = -1, .memory_high = -1, .memory_max = -1, .cpu_us = -1,
	.tasks = -1, .tasks_max = -1, .oom_kills = -1, .cpu_pressure = -1, .memory_pressure = -1,
	.io_pressure = -1,
};

/* What the kernel has not counted for all of them together. */
static void count_processes(const struct process_id *ids, size_t count, struct unit_usage *usage)
{
	const struct process_usage sum = process_usage_sum(ids, count);
	if (usage->memory < 0)
		usage->memory = sum.memory;
	if (usage->cpu_us < 0)
		usage->cpu_us = sum.cpu_us;
	if (usage->tasks < 0)
		usage->tasks = sum.threads;
}

void usage_read_row(const struct store_row *row, struct usage *ret)
{
	cleanup_free struct process_id *ids = NULL;
	cleanup_free char *group = NULL;
	size_t count = 0;
	*ret = (struct usage){ .row = row, .now = UNKNOWN, .cpu = -1 };
	/* By the process, not by the name: the same before and after the manager is asked, and without one. */
	ret->in_scope = row->unit && process_cgroup(row->server.pid, &group, NULL) == 0 &&
			ends_with(group, row->unit) && unit_usage(group, &ret->now) == 0;
	ret->at_ms = clock_ms();
	if (ret->in_scope && row->run_directory && ret->now.oom_kills > 0)
		(void)oom_look(row->run_directory, group);
	if (ret->now.memory >= 0 && ret->now.cpu_us >= 0 && ret->now.tasks >= 0)
		return;
	int r = ret->in_scope ? unit_processes(group, &ids, &count, NULL)
			      : process_tree(&row->server, &ids, &count, NULL);
	if (r == 0)
		count_processes(ids, count, &ret->now);
}

static const struct usage *find(const struct usage_list *list, const struct store_row *row)
{
	for (size_t i = 0; list && i < list->count; i++) {
		const struct process_id *server = &list->items[i].row->server;
		if (process_same(server, &row->server))
			return &list->items[i];
	}
	return NULL;
}

static int64_t share(const struct usage *now, const struct usage *before)
{
	if (!before || now->now.cpu_us < 0 || before->now.cpu_us < 0 || now->at_ms <= before->at_ms)
		return -1;
	/* Of processes one by one: what has ended without being waited for takes its time with it. */
	int64_t used = now->now.cpu_us - before->now.cpu_us;
	return used < 0 ? 0 : used * 10 / (now->at_ms - before->at_ms);
}

int usage_read(struct deck *deck, const struct usage_list *before, struct usage_list *ret,
	       struct error *err)
{
	cleanup_usage_list struct usage_list list = { 0 };
	if (store_list(deck->store, &list.rows, err) < 0)
		return -1;
	list.items = xcalloc(list.rows.count + 1, sizeof(*list.items));
	for (size_t i = 0; i < list.rows.count; i++) {
		const struct store_row *row = &list.rows.rows[i];
		if (row->damage || !lifecycle_row_is_live(row))
			continue;
		struct usage *usage = &list.items[list.count++];
		usage_read_row(row, usage);
		usage->cpu = share(usage, find(before, row));
	}
	*ret = list;
	list = (struct usage_list){ 0 };
	return 0;
}

bool usage_order_parse(const char *name, enum usage_order *ret)
{
	static const char *const names[] = {
		[USAGE_BY_MEMORY] = "memory", [USAGE_BY_CPU] = "cpu", [USAGE_BY_TASKS] = "tasks",
		[USAGE_BY_TITLE] = "title",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (streq(names[i], name)) {
			*ret = (enum usage_order)i;
			return true;
		}
	}
	return false;
}

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const void *first, const void *second, void *context)
{
	const struct usage *a = first, *b = second;
	enum usage_order order = *(const enum usage_order *)context;
	int by_title = strcmp(a->row->title, b->row->title);
	int by[] = {
		order == USAGE_BY_TITLE ? by_title : 0,
		order == USAGE_BY_CPU ? descending(a->cpu, b->cpu) : 0,
		order == USAGE_BY_TASKS ? descending(a->now.tasks, b->now.tasks) : 0,
		descending(a->now.memory, b->now.memory),
		descending(a->cpu, b->cpu),
		by_title,
	};
	for (size_t i = 0; i < ARRAY_SIZE(by); i++)
		if (by[i])
			return by[i];
	return 0;
}

void usage_sort(struct usage_list *list, enum usage_order order)
{
	qsort_r(list->items, list->count, sizeof(*list->items), compare, &order);
}
