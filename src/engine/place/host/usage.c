/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/clock.h"
#include "base/procusage.h"
#include "engine/place/oom.h"
#include "model/session/naming.h"

#include <string.h>

static const struct cgroup_usage UNKNOWN = {
	.memory = -1,
	.memory_peak = -1,
	.swap = -1,
	.memory_high = -1,
	.memory_max = -1,
	.cpu_us = -1,
	.tasks = -1,
	.tasks_max = -1,
	.oom_kills = -1,
	.cpu_pressure = -1,
	.memory_pressure = -1,
	.io_pressure = -1,
};

/* Is this the control group of the run's unit, or of the slice that it is in? */
static bool is_group_of_run(const char *group, const struct place_run *run)
{
	cleanup_free char *slice = naming_slice(run->id);
	return ends_with(group, run->unit) || ends_with(group, slice);
}

/* What the kernel has not counted for all of them together. */
static void count_processes(const struct process_id *ids, size_t count, struct cgroup_usage *usage)
{
	const struct process_usage sum = process_usage_sum(ids, count);
	if (usage->memory < 0)
		usage->memory = sum.memory;
	if (usage->cpu_us < 0)
		usage->cpu_us = sum.cpu_us;
	if (usage->tasks < 0)
		usage->tasks = sum.threads;
}

void host_usage(const struct place_run *run, struct place_usage *ret)
{
	cleanup_free struct process_id *ids = NULL;
	size_t count = 0;
	*ret = (struct place_usage){ .now = UNKNOWN };
	/* By the process, not by the name: the same before and after the manager is asked, and
	 * without one. */
	cleanup_free char *group = run->unit ? host_control_group(run) : NULL;
	ret->in_scope = group && is_group_of_run(group, run) && cgroup_usage(group, &ret->now) == 0;
	ret->at_ms = clock_ms();
	if (ret->in_scope && run->directory && ret->now.oom_kills > 0)
		(void)oom_look(run->directory, group);
	if (ret->now.memory >= 0 && ret->now.cpu_us >= 0 && ret->now.tasks >= 0)
		return;
	int r = ret->in_scope ? cgroup_processes(group, &ids, &count, NULL)
			      : process_tree(&run->server, &ids, &count, NULL);
	if (r == 0)
		count_processes(ids, count, &ret->now);
}
