/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's service manager and logind: with service.h all that speaks D-Bus (sd-bus(3)).
 *
 * Built --without-systemd every function answers UNIT_NO_MANAGER with the reason
 * "built without systemd".
 *
 * Facts: org.freedesktop.systemd1(5) (StartTransientUnit, StopUnit, JobRemoved),
 * org.freedesktop.login1(5) (SetUserLinger), systemd.scope(5), systemd.resource-control(5).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/instance.h"

/* UNIT_NO_MANAGER: no user manager can be reached; why is in *ret_why where there is one.
 * UNIT_ABSENT: no such unit.  UNIT_TAKEN: a unit of that name exists and is not gone yet. */
enum { UNIT_NO_MANAGER = 1, UNIT_ABSENT = 2, UNIT_TAKEN = 3 };

struct unit_bus;

/* Connect to the user manager, whether or not the login's environment names the bus.  Tried in this
 * order: <user_runtime>/systemd/private, the manager's own socket; DBUS_SESSION_BUS_ADDRESS;
 * <user_runtime>/bus.  The manager is asked for its version, so that a success means that it
 * answers; ERROR_TIMEOUT: it is there and does not answer within 3 s.
 * *ret_why (on UNIT_NO_MANAGER) and *ret are the caller's. */
int unit_bus_open(const char *user_runtime, struct unit_bus **ret, char **ret_why,
		  struct error *err);
void unit_bus_close(struct unit_bus *bus);
static inline void unit_bus_closep(struct unit_bus **bus)
{
	unit_bus_close(*bus);
}
#define cleanup_unit_bus CLEANUP(unit_bus_closep)

/* systemd's version as the manager says it, "252.39-1~deb12u2".  Borrowed from bus. */
const char *unit_bus_version(const struct unit_bus *bus);

struct unit_scope {
	const char *name;        /* "agentdeck-tmux-<id>.scope" */
	const char *slice;       /* "agentdeck.slice" */
	const char *description;
	pid_t pid;               /* moved into it */
	const struct limits *limits;
	unsigned stop_timeout_s;
};

/* Make a transient scope around pid and wait until the manager's job is done (deadline_ms of
 * clock_ms()).  Properties: PIDs, Slice, Description, CollectMode=inactive-or-failed,
 * TimeoutStopUSec, SendSIGHUP, OOMPolicy=continue, ManagedOOMPreference=avoid, the limits; a
 * property that this manager does not know is left out and the call is made again.
 * A failed unit of the name is reset first.  UNIT_TAKEN: an active unit has the name.
 * Other job results, a refusal and silence are errors that name the unit. */
int unit_start_scope(struct unit_bus *bus, const struct unit_scope *scope, int64_t deadline_ms,
		     struct error *err);

struct unit_state {
	char *active;        /* ActiveState: "active", "deactivating", "failed", "inactive", ... */
	char *result;        /* Result: "success", "oom-kill", ... */
	char *control_group; /* below /sys/fs/cgroup, "" when gone */
};
void unit_state_free(struct unit_state *state);
#define cleanup_unit_state CLEANUP(unit_state_free)

/* One round trip (Properties.GetAll on the unit's path, which org.freedesktop.systemd1 answers
 * without loading).  UNIT_ABSENT: not loaded, or inactive and not-found. */
int unit_get_state(struct unit_bus *bus, const char *name, struct unit_state *ret,
		   struct error *err);

/* The unit's InvocationID (systemd.exec(5)): 32 hexadecimal digits, which the caller frees.  UNIT_ABSENT: it has none, since
 * it is not active.  Much cheaper than all properties, for which the manager reads what the cgroup has used. */
int unit_get_invocation(struct unit_bus *bus, const char *name, char **ret, struct error *err);

/* Give a running scope these limits now (SetUnitProperties, runtime: they end with the scope).  Every one of them is
 * set: what is 0 is what the manager gives to a new scope (tasks_max: its DefaultTasksMax), LIMIT_INFINITY is none.
 * UNIT_ABSENT: no such unit is running. */
int unit_set_limits(struct unit_bus *bus, const char *name, const struct limits *limits,
		    struct error *err);

/* Kill all processes of the unit (KillUnit "all") with this signal.  UNIT_ABSENT. */
int unit_kill(struct unit_bus *bus, const char *name, int signal_number, struct error *err);

/* StopUnit, and wait until its job is done.  UNIT_ABSENT. */
int unit_stop(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err);

/* ---- unit files and services (unit-files.c) --------------------------------------------------- */

/* The directories in which the manager looks for units, first ones first; appended to *ret. */
int unit_search_path(struct unit_bus *bus, struct strvec *ret, struct error *err);
/* Have it read all unit files anew. */
int unit_reload_manager(struct unit_bus *bus, struct error *err);
/* Have it start the unit with what its [Install] section says, or not any more.  A link of the user's own that stands in
 * the way is not replaced.  unit_enable(): UNIT_ABSENT; a unit that is not there is disabled. */
int unit_enable(struct unit_bus *bus, const char *name, struct error *err);
int unit_disable(struct unit_bus *bus, const char *name, struct error *err);
/* "enabled", "disabled", "masked", ..., in *ret, which is the caller's.  UNIT_ABSENT. */
int unit_file_state(struct unit_bus *bus, const char *name, char **ret, struct error *err);
/* Start the unit, or end it and start it again, and wait until that is done: for a service that tells (Type=notify), until
 * it is ready.  UNIT_ABSENT. */
int unit_restart(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err);

struct unit_service {
	char *active;     /* ActiveState */
	char *file;       /* the unit file that it was loaded from */
	int64_t since_us; /* when it became that, since the Epoch; 0: unknown */
	pid_t main_pid;   /* 0: none */
};
void unit_service_free(struct unit_service *service);
#define cleanup_unit_service CLEANUP(unit_service_free)
/* UNIT_ABSENT: no such unit. */
int unit_get_service(struct unit_bus *bus, const char *name, struct unit_service *ret,
		     struct error *err);

/* The processes in a control group ("/user.slice/...", as unit_state says) and in all below it.
 * Reads the kernel's files, as unit_oom_kills() does: both work in either build.
 * UNIT_ABSENT: there is no such group.  The array is the caller's. */
int unit_processes(const char *control_group, struct process_id **ret, size_t *ret_count,
		   struct error *err);

/* What a control group and those below it use, and what the kernel allows them; LIMIT_INFINITY: all there is.
 * -1: it cannot be known, since there is no such controller here, or the kernel is too old. */
struct unit_usage {
	int64_t memory, memory_peak, swap; /* bytes; memory with what is cached for its files */
	int64_t memory_high, memory_max;
	int64_t cpu_us;                    /* processor time since the group was made */
	int64_t tasks, tasks_max;          /* processes and threads */
	int64_t oom_kills;
	/* Share of the last 10 s in which some process stood still for want of it, in hundredths of a percent (PSI). */
	int64_t cpu_pressure, memory_pressure, io_pressure;
};
/* UNIT_ABSENT: there is no such group. */
int unit_usage(const char *control_group, struct unit_usage *ret);

/* Count of OOM kills in the group (memory.events, oom_kill); -1 when it cannot be known. */
int64_t unit_oom_kills(const char *control_group);
/* A descriptor of the group's memory.events, which has EPOLLPRI (epoll(7)) whenever a number in it has changed since
 * unit_oom_read(), and when the group is gone.  -1 with *err: there is no such file (ERROR_UNAVAILABLE), or it cannot be
 * opened.  Call unit_oom_read() once before the first wait. */
int unit_oom_open(const char *control_group, struct error *err);
/* The same count as unit_oom_kills(), from such a descriptor; -1: the group is gone. */
int64_t unit_oom_read(int fd);

/* Whom the kernel killed last for lack of memory in the group, as its log says: the process' name and id.  pid: only this
 * one counts; 0 for any.  UNIT_ABSENT: the log is not ours to read (dmesg_restrict, proc(5)), or does not say it.
 * *ret_name is the caller's. */
int unit_oom_last(const char *control_group, pid_t pid, char **ret_name, pid_t *ret_pid);
/* The last one as text, "node (pid 4711)"; NULL when nobody says it.  The caller frees. */
char *unit_oom_victim(const char *control_group) MUST_USE;

/* logind.  UNIT_NO_MANAGER: there is none. */
struct login_facts {
	bool linger;              /* user manager stays after the last logout */
	bool kill_user_processes; /* KillUserProcesses of logind.conf(5) */
};
/* linger is read from /var/lib/systemd/linger/<user>, where logind keeps it, without D-Bus. */
bool login_lingers(unsigned uid);
int login_facts(unsigned uid, struct login_facts *ret, struct error *err);
/* SetUserLinger(uid, true, interactive = false).  A refusal is ERROR_UNAVAILABLE with the remedy
 * "loginctl enable-linger <user>" in the message. */
int login_enable_linger(unsigned uid, struct error *err);
