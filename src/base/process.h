/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes that are not our children: their identity, whether they live, how to end them.
 *
 * A pid alone is not an identity, because the kernel reuses it.  It needs the process' start time
 * (proc(5), /proc/PID/stat field 22, clock ticks since boot), and a signal goes through a pidfd
 * whose process was compared first (pidfd_open(2)).
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

/* Are these the same process?  Two without a process (pid 0) are. */
static inline bool process_same(const struct process_id *a, const struct process_id *b)
{
	return a->pid == b->pid && a->start == b->start;
}

/* Which process has this pid now?  PROCESS_GONE: none, a zombie, or one that is hidden from us
 * (EPERM and EACCES: hidepid=, proc(5)) and therefore not ours. */
int process_identify(pid_t pid, struct process_id *ret, struct error *err);

/* Does exactly this process exist, and is it no zombie?  A process that cannot be examined for lack
 * of a resource (ENFILE, ENOMEM) counts as alive: what may be alive must not be replaced. */
bool process_alive(const struct process_id *id);

/* A descriptor (pidfd_open(2)) that means exactly this process and becomes readable when it ends.
 * PROCESS_GONE.  *ret is the caller's. */
int process_open(const struct process_id *id, int *ret, struct error *err);

/* Will it execute no more of its program: has it ended, or is SIGKILL on its way to it?  kill(2)
 * returns before a busy machine has let its victim end. */
bool process_is_ending(const struct process_id *id);

/* Has the process ended, and its parent has not reaped it? */
bool process_is_zombie(const struct process_id *id);

/* Is the process stopped by a signal (proc(5), state T or t)? */
bool process_is_stopped(const struct process_id *id);

/* Send a signal to exactly this process.  PROCESS_GONE: it no longer exists. */
int process_signal(const struct process_id *id, int signal_number, struct error *err);

/* Wait until the process has ended, up to deadline_ms of clock_ms().
 * PROCESS_STILL_ALIVE: the deadline passed. */
enum { PROCESS_STILL_ALIVE = 2 };
int process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err);

/* The process and all its descendants (by parent pid, a snapshot).  Fails when one cannot be
 * examined, as the next two do, since none may be missing.  Processes hidden from us are left out.
 * The array is the caller's. */
int process_tree(const struct process_id *root, struct process_id **ret, size_t *ret_count,
		 struct error *err);

/* The children of the process's first thread, at most size of them; returns how many.  One that is
 * just born or ends can be missing: nothing is ended by this list.  It reads one file, while
 * process_tree() reads all of /proc. */
size_t process_children(pid_t pid, pid_t *ret, size_t size);

/* Every process of ours whose initial environment (proc(5), /proc/PID/environ) has the string entry
 * ("NAME=VALUE").  Children inherit it and keep it when their parents end. */
int process_find_by_environment(const char *entry, struct process_id **ret, size_t *ret_count,
				struct error *err);

/* Every live process of our user (the owner of /proc/PID is its effective user, proc(5)).  The
 * array is the caller's. */
int process_list_own(struct process_id **ret, size_t *ret_count, struct error *err);

/* The process's pid in its own pid namespace (proc(5), NSpid).  PROCESS_GONE as above. */
int process_inner_pid(pid_t pid, pid_t *ret, struct error *err);

/* The process's parent now.  PROCESS_GONE as above. */
int process_parent(pid_t pid, pid_t *ret, struct error *err);

/* The process's ancestors, nearest first, at most size of them; returns how many.  Each was the
 * parent at the time.  The list ends at a process that cannot be examined, and where a parent has
 * ended meanwhile. */
size_t process_ancestors(pid_t pid, struct process_id *ret, size_t size);

/* Which process of our user listens at this socket (unix(7), SO_PEERCRED: that which called
 * listen(2))?  PROCESS_GONE: none. */
int process_listening(const char *path, struct process_id *ret, struct error *err);

/* Is the other end of this socket a process of our own user (SO_PEERCRED)? */
bool process_peer_is_ours(int fd);

/* The process's working directory, as the kernel names it.  PROCESS_GONE as above, and when the
 * directory was removed (" (deleted)").  *ret is the caller's. */
int process_directory(pid_t pid, char **ret, struct error *err);

/* Path of the terminal that it reads from ("/dev/pts/3"), NULL when descriptor 0 is not a terminal.
 * PROCESS_GONE as above.  *ret is the caller's. */
int process_terminal(pid_t pid, char **ret, struct error *err);

/* Value of a variable in its initial environment, NULL when it has none.  PROCESS_GONE as above.
 * *ret is the caller's. */
int process_variable(pid_t pid, const char *name, char **ret, struct error *err);

/* The process's initial environment, "NAME=VALUE" each.  PROCESS_GONE as above. */
int process_environment(pid_t pid, struct strvec *ret, struct error *err);

/* Path of its control group in the unified hierarchy (cgroups(7): the line "0::" of
 * /proc/PID/cgroup).  PROCESS_GONE as above.  *ret is the caller's. */
int process_cgroup(pid_t pid, char **ret, struct error *err);

/* The command line, one string per argument.  PROCESS_GONE as above. */
int process_argv(pid_t pid, struct strvec *ret, struct error *err);

/* /proc/sys/kernel/random/boot_id without the newline, random(4).  "" when it cannot be read.
 * Static storage: it does not change while we run. */
const char *process_boot_id(void);

/* Is this the id of this boot?  NULL: no.  Yes when either could not be read (""), since it may be.
 */
bool process_same_boot(const char *boot_id);

/* End every process below root (NULL: none), and every one that was started with this entry
 * (process_find_by_environment()), but neither root nor this process.  They get SIGTERM, and what
 * is left at soft_ms of clock_ms() gets SIGKILL, until deadline_ms.  The caller reaps its children
 * meanwhile, in on_round (NULL: it has none).  Returns how many are left; not 0 if that cannot be
 * found out. */
size_t process_end_all(const struct process_id *root, const char *entry, int64_t soft_ms,
		       int64_t deadline_ms, void (*on_round)(void));
