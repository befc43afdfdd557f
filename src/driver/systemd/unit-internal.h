/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the files of unit.h only.
 */
#pragma once

#include "driver/systemd/bus.h"

#define SYSTEMD1_NAME    "org.freedesktop.systemd1"
#define SYSTEMD1_PATH    "/org/freedesktop/systemd1"
#define SYSTEMD1_MANAGER "org.freedesktop.systemd1.Manager"
/* A method of the manager's interface. */
#define MANAGER(method) \
	((struct bus_method){ SYSTEMD1_NAME, SYSTEMD1_PATH, SYSTEMD1_MANAGER, method })

struct unit_job {
	const char *unit;
	int64_t deadline_ms;
	char *result;         /* the last argument of JobRemoved: "done", "failed", ... */
	sd_bus_error refusal; /* BUS_REFUSED */
	/* private */
	char *path;         /* NULL until the answer */
	struct strvec seen; /* path, result, path, result, ... from before the answer */
	bool manager_left, is_done;
};
void unit_job_end(struct unit_job *job);
#define cleanup_unit_job CLEANUP(unit_job_end)

struct unit_bus {
	sd_bus *bus;
	char *version;
	struct strvec unknown_properties; /* this manager does not know them; not sent again */
	struct unit_job *job;             /* we wait for its end; NULL: for none */
};

/* Send a call whose answer is the path of a job, and wait for the end of that job. BUS_REFUSED and
 * errors: as bus_call(). */
int unit_run_job(struct unit_bus *bus, sd_bus_message *call, struct unit_job *job,
		 struct error *err);
/* Like unit_run_job(), but for a method that takes a unit and a mode (StartUnit). what: "stop", for
 * messages. see: a command that says more about the unit. UNIT_ABSENT. */
struct unit_change {
	const char *what, *method, *see;
};
int unit_change(struct unit_bus *bus, const struct unit_change *change, const char *name,
		int64_t deadline_ms, struct error *err);
/* Is this a refusal because there is no such unit? */
bool unit_is_absence(const sd_bus_error *refusal);
