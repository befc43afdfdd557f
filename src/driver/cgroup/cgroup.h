/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Control groups (cgroup v2): their processes, what they use, and what the kernel killed in them
 * for lack of memory. Reads the kernel's files and its log, and works in either build.
 *
 * A group is named by its path below the root of the hierarchy ("/user.slice/..."), as the service
 * manager names it.
 *
 * Facts: Documentation/admin-guide/cgroup-v2.rst and accounting/psi.rst of the kernel.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

/* There is no such group, or the kernel's log does not say it. */
enum { CGROUP_ABSENT = 1 };

/* The processes in the group and in all groups below it. CGROUP_ABSENT. The caller frees *ret. */
int cgroup_processes(const char *group, struct process_id **ret, size_t *ret_count,
		     struct error *err);

/* The controllers that groups below this one can have ("memory", "pids", ...), appended to *ret.
 * CGROUP_ABSENT. */
int cgroup_controllers(const char *group, struct strvec *ret);

/* What the group and those below it use, and what the kernel allows them. INT64_MAX: no limit. -1:
 * unknown, because the controller is off or the kernel is too old. */
struct cgroup_usage {
	int64_t memory, memory_peak, swap; /* bytes; memory includes the cache of its files */
	int64_t memory_high, memory_max;
	int64_t cpu_us;           /* processor time since the group was made */
	int64_t tasks, tasks_max; /* processes and threads */
	int64_t oom_kills;
	/* Pressure (PSI): the share of the last 10 s in which some process had to wait for it, in
	 * hundredths of a percent. */
	int64_t cpu_pressure, memory_pressure, io_pressure;
};
/* CGROUP_ABSENT. */
int cgroup_usage(const char *group, struct cgroup_usage *ret);
/* Like cgroup_usage(), but from the group's directory. */
void cgroup_usage_at(int directory, struct cgroup_usage *ret);

/* How many processes of the group the kernel has killed for lack of memory (memory.events,
 * oom_kill). -1: unknown. */
int64_t cgroup_oom_kills(const char *group);
/* A descriptor of the group's memory.events, which the caller closes. It has EPOLLPRI (epoll(7))
 * when a number has changed since cgroup_oom_read(), and when the group is gone. Call
 * cgroup_oom_read() once before the first wait. -1 with *err: there is no such file
 * (ERROR_UNAVAILABLE), or it cannot be opened. */
int cgroup_oom_open(const char *group, struct error *err);
/* Like cgroup_oom_kills(), but from such a descriptor. -1: the group is gone. */
int64_t cgroup_oom_read(int fd);

/* The process that the kernel killed last in the group for lack of memory, from the kernel's log:
 * its name and id. pid: look for this one only; 0: for any. CGROUP_ABSENT: we may not read the log
 * (dmesg_restrict, proc(5)), or it does not say it. The caller frees *ret_name. */
int cgroup_oom_last(const char *group, pid_t pid, char **ret_name, pid_t *ret_pid);
/* Like cgroup_oom_last(), but from a descriptor that gives one record of the log for each read(2),
 * without blocking. */
int cgroup_oom_last_at(int log, const char *group, pid_t pid, char **ret_name, pid_t *ret_pid);
/* The last one as text, "node (pid 4711)"; NULL: unknown. The caller frees it. */
char *cgroup_oom_victim(const char *group) MUST_USE;
