/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's service manager and logind, over D-Bus (bus.h).
 *
 * In a build --without-systemd every function returns UNIT_NO_MANAGER, with the reason
 * "built without systemd".
 *
 * Facts: org.freedesktop.systemd1(5) (StartTransientUnit, StopUnit, JobRemoved),
 * org.freedesktop.login1(5) (SetUserLinger), systemd.scope(5), systemd.resource-control(5).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/session/instance.h"

/* UNIT_NO_MANAGER: we cannot reach a user manager; *ret_why, if there is one, says why.
 * UNIT_ABSENT: there is no such unit. UNIT_TAKEN: a unit of that name exists. */
enum { UNIT_NO_MANAGER = 1, UNIT_ABSENT = 2, UNIT_TAKEN = 3 };

struct unit_bus;

/* Connect to the user manager, whether or not the login's environment names the bus. It tries, in
 * this order: <user_runtime>/systemd/private (the manager's own socket), DBUS_SESSION_BUS_ADDRESS,
 * <user_runtime>/bus. It asks the manager for its version, so success means that the manager
 * answers. ERROR_TIMEOUT: it does not answer within 3 s. The caller frees *ret_why (set with
 * UNIT_NO_MANAGER) and closes *ret. */
int unit_bus_open(const char *user_runtime, struct unit_bus **ret, char **ret_why,
		  struct error *err);
void unit_bus_close(struct unit_bus *bus);
CLEANUP_OF(unit_bus_closep, struct unit_bus, unit_bus_close);
#define cleanup_unit_bus CLEANUP(unit_bus_closep)

/* systemd's version, from the manager: "252.39-1~deb12u2". Borrowed from bus. */
const char *unit_bus_version(const struct unit_bus *bus);

struct unit_scope {
	const char *name;  /* "agentdeck-tmux-<id>.scope" */
	const char *slice; /* "agentdeck-<id>.slice" */
	const char *description;
	pid_t pid; /* the manager moves it into the scope */
	struct limits limits;
	unsigned stop_timeout_s;
};

/* Make a transient scope around pid in a transient slice of its own, and wait until the manager's
 * job is done (deadline_ms of clock_ms()). Properties of the scope: PIDs, Slice, Description,
 * CollectMode=inactive-or-failed, TimeoutStopUSec, SendSIGHUP, OOMPolicy=continue,
 * ManagedOOMPreference=avoid. The slice has the limits, and StopWhenUnneeded: it ends with the last
 * unit in it. If the manager does not know a property, the call is repeated without it. A failed
 * unit of the name is reset first. UNIT_TAKEN: an active unit has one of the two names. Any other
 * result of the job, a refusal and a timeout are errors that name the unit. */
int unit_start_scope(struct unit_bus *bus, const struct unit_scope *scope, int64_t deadline_ms,
		     struct error *err);

/* Wait until the manager has forgotten the unit. UNIT_TAKEN: it has not until deadline_ms. */
int unit_wait_gone(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err);

struct unit_state {
	char *active;        /* ActiveState: "active", "deactivating", "failed", "inactive", ... */
	char *result;        /* Result: "success", "oom-kill", ... */
	char *control_group; /* below /sys/fs/cgroup; "": it is gone */
};
void unit_state_free(struct unit_state *state);
#define cleanup_unit_state CLEANUP(unit_state_free)

/* One round trip (Properties.GetAll on the unit's path, for which the manager loads nothing).
 * UNIT_ABSENT: the unit is not loaded, or inactive and not-found. */
int unit_get_state(struct unit_bus *bus, const char *name, struct unit_state *ret,
		   struct error *err);

/* The control group of the manager itself, which has those of all its units; the caller frees. */
int unit_manager_group(struct unit_bus *bus, char **ret, struct error *err);

/* The unit's InvocationID (systemd.exec(5)): 32 hexadecimal digits, which the caller frees.
 * UNIT_ABSENT: it is not active. Much cheaper than unit_get_state(), for which the manager reads
 * the usage of the cgroup. */
int unit_get_invocation(struct unit_bus *bus, const char *name, char **ret, struct error *err);

/* Give a running scope or slice these limits now (SetUnitProperties, runtime: they end with it).
 * Sets all limits: 0 means the manager's value for a new unit (tasks_max of a scope:
 * DefaultTasksMax), LIMIT_INFINITY means no limit. UNIT_ABSENT: no such unit is running. */
int unit_set_limits(struct unit_bus *bus, const char *name, const struct limits *limits,
		    struct error *err);

/* Stop the unit (StopUnit), and wait until that job is done. UNIT_ABSENT. */
int unit_stop(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err);

/* ---- unit files and services (unit-files.c) -------------------------------------------------- */

/* Append to *ret the directories in which the manager looks for units, in its order. */
int unit_search_path(struct unit_bus *bus, struct strvec *ret, struct error *err);
/* Append to *ret the variables ("NAME=VALUE") that the manager gives to what it starts. */
int unit_manager_environment(struct unit_bus *bus, struct strvec *ret, struct error *err);
/* Make the manager read all unit files again. */
int unit_reload_manager(struct unit_bus *bus, struct error *err);
/* Make the manager start the unit with the units that its [Install] section names, or stop doing
 * so. A link that the user made is not replaced. unit_enable(): UNIT_ABSENT. A unit that does not
 * exist counts as disabled. */
int unit_enable(struct unit_bus *bus, const char *name, struct error *err);
int unit_disable(struct unit_bus *bus, const char *name, struct error *err);
/* *ret: "enabled", "disabled", "masked", ... The caller frees it. UNIT_ABSENT. */
int unit_file_state(struct unit_bus *bus, const char *name, char **ret, struct error *err);
/* Start the unit, or restart it, and wait until that is done. A service of Type=notify is then
 * ready. UNIT_ABSENT. */
int unit_restart(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err);

struct unit_service {
	char *active;     /* ActiveState */
	char *file;       /* its unit file */
	int64_t since_us; /* of the active state, since the Epoch; 0: unknown */
	pid_t main_pid;   /* 0: none */
};
void unit_service_free(struct unit_service *service);
#define cleanup_unit_service CLEANUP(unit_service_free)
/* UNIT_ABSENT: no such unit. */
int unit_get_service(struct unit_bus *bus, const char *name, struct unit_service *ret,
		     struct error *err);

/* logind. UNIT_NO_MANAGER: it does not run. */
struct login_facts {
	bool linger;              /* the user manager stays after the last logout */
	bool kill_user_processes; /* KillUserProcesses of logind.conf(5) */
};
/* Reads /var/lib/systemd/linger/<user>, where logind keeps it. Does not use D-Bus. */
bool login_lingers(unsigned uid);
int login_facts(unsigned uid, struct login_facts *ret, struct error *err);
/* SetUserLinger(uid, true, interactive = false). A refusal is ERROR_UNAVAILABLE. Its message names
 * the remedy, "loginctl enable-linger <user>". */
int login_enable_linger(unsigned uid, struct error *err);
