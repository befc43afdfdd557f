/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Resource usage of processes that have no control group of their own, from proc(5).
 */
#pragma once

#include "base/process.h"

struct process_usage {
	int64_t memory; /* resident bytes; memory that several share counts for each of them */
	int64_t cpu_us; /* processor time, including that of reaped children */
	int64_t threads;
};

/* PROCESS_GONE as in base/process.h. */
int process_usage(pid_t pid, struct process_usage *ret, struct error *err);

/* The sum over those of these processes that still exist. */
struct process_usage process_usage_sum(const struct process_id *ids, size_t count);
