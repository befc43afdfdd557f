/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sd-bus(3) with a deadline on every wait, for the files of unit.h and service.h.
 *
 * libsystemd's own blocking calls (sd_bus_call(), sd_bus_flush(), sd_bus_open_user()) wait for the
 * connection's authentication without a limit of ours: nothing here uses them.
 */
#pragma once

#include "driver/unit.h"

#include <systemd/sd-bus.h>

#define SYSTEMD1_NAME "org.freedesktop.systemd1"
#define SYSTEMD1_PATH "/org/freedesktop/systemd1"
#define SYSTEMD1_MANAGER "org.freedesktop.systemd1.Manager"

#define cleanup_message CLEANUP(sd_bus_message_unrefp)
#define cleanup_refusal CLEANUP(sd_bus_error_free)
/* Not the flushing variant: that one waits for a peer that has stopped reading. */
#define cleanup_bus CLEANUP(sd_bus_close_unrefp)

/* How long one question to a manager that has answered before may take. */
enum { BUS_CALL_TIMEOUT_MS = 5000 };

/* Connect to a D-Bus address ("unix:path=..."), or to the system bus when it is NULL.  direct: the
 * peer itself listens there, and no message bus.  The connection may still be authenticating: the
 * first call finds out.  who names the peer in messages.  ERROR_UNAVAILABLE: nobody listens. */
int bus_connect(const char *address, bool direct, const char *who, int64_t deadline_ms,
		sd_bus **ret, struct error *err);

/* "unix:path=<path>" with the path escaped as D-Bus wants it.  The caller frees. */
char *bus_address_of_path(const char *path) MUST_USE;

/* A method call that does not make a message bus start the peer. */
int bus_new_call(sd_bus *bus, const char *name, const char *path, const char *interface,
		 const char *method, sd_bus_message **ret, struct error *err);

/* sd-bus failed, with r, to put a message together or to take one apart.  Returns -1. */
int bus_message_error(struct error *err, int r);
#define bus_message_error(...) ({ (bus_message_error)(__VA_ARGS__); -1; })

/* Send and wait for the answer.  BUS_REFUSED: it is an error, in *ret_refusal, which the caller
 * frees.  ERROR_UNAVAILABLE: the peer is not there, or went away.  ERROR_TIMEOUT: silence.
 * ret may be NULL. */
enum { BUS_REFUSED = 1 };
int bus_call(sd_bus *bus, sd_bus_message *call, int64_t deadline_ms, sd_bus_message **ret,
	     sd_bus_error *ret_refusal, struct error *err);

/* Let the connection work until *done, which a handler sets.  Errors as above. */
int bus_wait(sd_bus *bus, const bool *done, int64_t deadline_ms, struct error *err);

/* The refusal's message, or its name when it has none.  Borrowed. */
const char *bus_refusal_text(const sd_bus_error *refusal);

struct unit_job;

struct unit_bus {
	sd_bus *bus;
	char *version;
	struct strvec unknown_properties; /* what this manager refused to know, not sent again */
	struct unit_job *job;             /* the one that is waited for, else NULL */
};

/* Send a call that is answered with a job's path, and wait for the end of that job.
 * *ret_result is JobRemoved's last argument ("done", "failed", ...) and the caller's.
 * BUS_REFUSED and errors as bus_call(). */
int unit_run_job(struct unit_bus *bus, sd_bus_message *call, const char *unit, int64_t deadline_ms,
		 char **ret_result, sd_bus_error *ret_refusal, struct error *err);

/* A call of the manager's interface. */
int unit_new_call(struct unit_bus *bus, const char *method, sd_bus_message **ret,
		  struct error *err);
