/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What processes use, as proc(5) says: for those that no control group counts.
 */
#pragma once

#include "base/process.h"

struct process_usage {
	int64_t memory;  /* bytes that are resident; what several share counts for each of them */
	int64_t cpu_us;  /* processor time, with that of children that it has waited for */
	int64_t threads;
};

/* PROCESS_GONE as in base/process.h. */
int process_usage(pid_t pid, struct process_usage *ret, struct error *err);

/* Of all of these that are still there, together. */
struct process_usage process_usage_sum(const struct process_id *ids, size_t count);
