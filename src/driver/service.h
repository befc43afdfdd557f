/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor on the user bus: the name io.agentdeck.Supervisor1, the object /io/agentdeck/Supervisor1 and the
 * interface of the same name (sd_bus_add_object_vtable(3)); docs/bus.md lists its methods.  And the other side: what
 * `agentdeck events` and `supervise --status` ask it.
 *
 * Only the same user may call: the bus is the user's own, and each call's sender is checked as well.
 *
 * Built --without-systemd every function answers SERVICE_NO_BUS.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* SERVICE_NO_BUS: there is no user bus.  SERVICE_TAKEN: another process has the name; SERVICE_ABSENT: nobody has. */
enum { SERVICE_NO_BUS = 1, SERVICE_TAKEN = 2, SERVICE_ABSENT = 3 };

struct sd_event;

/* One session as List, Get and InstanceChanged show it: a{sv}, texts that are NULL left out. */
struct service_session {
	const char *id, *profile, *title, *group, *agent, *directory, *session_id;
	const char *status;   /* "running", ..., "unknown" */
	const char *activity; /* "busy", ...; NULL when it does not run */
	const char *reason;
	bool desired;         /* it is to run */
	int64_t since_us, activity_since_us; /* since the Epoch, 0: unknown */
};

enum service_verb { SERVICE_START, SERVICE_STOP, SERVICE_RESTART, SERVICE_RECOVER };

/* A call that waits for its answer. */
struct service_call;

typedef void (*service_each)(const struct service_session *session, void *closure);

struct service_operations {
	const char *state; /* the directory whose sessions these are: the property StateDirectory */
	/* Call each for every session. */
	void (*list)(service_each each, void *closure, void *context);
	/* Call each for the one of this id or exact title; false: there is none (or it is not unique). */
	bool (*get)(const char *target, service_each each, void *closure, void *context);
	/* Begin; the answer comes with service_answer*(), also much later.  target is NULL for SERVICE_RECOVER. */
	void (*act)(enum service_verb verb, const char *target, struct service_call *call, void *context);
};

struct service;

/* Connect to the user bus below user_runtime (or where DBUS_SESSION_BUS_ADDRESS says), take the name and serve, driven
 * by event.  operations and context stay the caller's.  *ret is the caller's. */
int service_open(const char *user_runtime, struct sd_event *event,
		 const struct service_operations *operations, void *context, struct service **ret,
		 struct error *err);
/* Calls that wait are answered with an error. */
void service_close(struct service *service);
static inline void service_closep(struct service **service)
{
	service_close(*service);
}
#define cleanup_service CLEANUP(service_closep)

/* Answer a call, which is gone then: a word for what came of it ("started", "running", "stopped"); what went wrong; how
 * many came back and how many did not.  service may be closed already. */
void service_answer(struct service_call *call, const char *outcome);
void service_answer_failure(struct service_call *call, const char *message);
void service_answer_recovered(struct service_call *call, uint32_t revived, uint32_t failed);

/* Has the bus gone?  Then calls are answered to nobody, signals are dropped, and the event loop goes on: nothing of the
 * service wakes it any more.  Close it, and open another one when there is a bus again. */
bool service_is_lost(const struct service *service);

/* Signal InstanceChanged(s id, a{sv}).  What cannot be sent is lost: who was not there looks by List. */
void service_changed(struct service *service, const struct service_session *session);
/* Signal InstanceRemoved(s id). */
void service_removed(struct service *service, const char *id);

/* ---- the other side -------------------------------------------------------------------------- */

/* Who serves; SERVICE_ABSENT. */
int service_owner(const char *user_runtime, pid_t *ret, struct error *err);

/* Follow the signals.  state: only a supervisor of this directory (struct paths); NULL: of any.  SERVICE_ABSENT: there is
 * none. */
struct service_client;
int service_client_open(const char *user_runtime, const char *state, struct service_client **ret,
			struct error *err);
void service_client_close(struct service_client *client);
/* Readable when there may be something; also call service_client_read() at its deadline (clock_ms(), INT64_MAX: none). */
int service_client_descriptor(const struct service_client *client);
int64_t service_client_deadline(const struct service_client *client);
/* Give each changed session to each (removed ones with status "removed" and only an id); texts are valid during the
 * call.  SERVICE_ABSENT: the supervisor has gone. */
int service_client_read(struct service_client *client, service_each each, void *closure,
			struct error *err);
