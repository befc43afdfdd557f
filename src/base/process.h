/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes that are not our children: who they are, whether they live, how to end them.
 *
 * A pid alone is no identity, since the kernel uses it again: it goes together with the process'
 * start time (proc(5), /proc/PID/stat field 22, clock ticks since boot), and a signal goes through
 * a pidfd whose process was compared first (pidfd_open(2)).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/types.h>

struct process_id {
	pid_t pid;      /* 0: none */
	uint64_t start; /* clock ticks since boot */
};

enum { PROCESS_GONE = 1 };

/* Are these one and the same process?  None (pid 0) is the same as none. */
static inline bool process_same(const struct process_id *a, const struct process_id *b)
{
	return a->pid == b->pid && a->start == b->start;
}

/* Who bears this pid now.  PROCESS_GONE: nobody, a zombie, or one that is hidden from us (EPERM and EACCES: hidepid=,
 * proc(5)), which is not ours. */
int process_identify(pid_t pid, struct process_id *ret, struct error *err);

/* Does exactly this process exist, other than as a zombie?  One that cannot be looked at for want of something (ENFILE,
 * ENOMEM) counts as alive, since nobody may end or replace what may be there. */
bool process_alive(const struct process_id *id);

/* A descriptor (pidfd_open(2)) that means exactly this process and becomes readable when it ends.
 * PROCESS_GONE.  *ret is the caller's. */
int process_open(const struct process_id *id, int *ret, struct error *err);

/* Has the process ended without its parent having taken notice? */
bool process_is_zombie(const struct process_id *id);

/* Does the process stand still by a signal (proc(5), state T or t)? */
bool process_is_stopped(const struct process_id *id);

/* Send a signal to exactly this process.  PROCESS_GONE: it is not there any more. */
int process_signal(const struct process_id *id, int signal_number, struct error *err);

/* Wait until the process has ended, up to deadline_ms of clock_ms().
 * PROCESS_STILL_ALIVE: the deadline passed. */
enum { PROCESS_STILL_ALIVE = 2 };
int process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err);

/* The process and all its descendants (by parent pid, a snapshot).  Fails when one cannot be looked at, as the next
 * two do, since nothing may be missing; those that are hidden from us are left out.  The array is the caller's. */
int process_tree(const struct process_id *root, struct process_id **ret, size_t *ret_count,
		 struct error *err);

/* Every process of ours in whose initial environment the string entry ("NAME=VALUE") stands
 * (proc(5), /proc/PID/environ): children inherit it, whatever becomes of their parents. */
int process_find_by_environment(const char *entry, struct process_id **ret, size_t *ret_count,
				struct error *err);

/* Every live process of our user (the owner of /proc/PID is its effective user, proc(5)).  The array is the
 * caller's. */
int process_list_own(struct process_id **ret, size_t *ret_count, struct error *err);

/* Its parent now.  PROCESS_GONE as above. */
int process_parent(pid_t pid, pid_t *ret, struct error *err);

/* Its working directory, as the kernel names it.  PROCESS_GONE as above; also when the directory was removed
 * (" (deleted)").  *ret is the caller's. */
int process_directory(pid_t pid, char **ret, struct error *err);

/* Path of the terminal that it reads from ("/dev/pts/3"), NULL when descriptor 0 is none.  PROCESS_GONE
 * as above.  *ret is the caller's. */
int process_terminal(pid_t pid, char **ret, struct error *err);

/* Value of a variable in its initial environment, NULL when it has none.  PROCESS_GONE as above.  *ret is the
 * caller's. */
int process_variable(pid_t pid, const char *name, char **ret, struct error *err);

/* Its initial environment, "NAME=VALUE" each.  PROCESS_GONE as above. */
int process_environment(pid_t pid, struct strvec *ret, struct error *err);

/* Path of its control group in the unified hierarchy (cgroups(7): the line "0::" of
 * /proc/PID/cgroup).  PROCESS_GONE as above.  *ret is the caller's. */
int process_cgroup(pid_t pid, char **ret, struct error *err);

/* The command line, one string per argument.  PROCESS_GONE as above. */
int process_argv(pid_t pid, struct strvec *ret, struct error *err);

/* /proc/sys/kernel/random/boot_id without the newline, random(4).  "" when it cannot be read.
 * Static storage: it does not change while we run. */
const char *process_boot_id(void);

/* Is what bears this boot id of this boot?  NULL: no.  When either could not be read ("") it may be, and is. */
bool process_same_boot(const char *boot_id);
