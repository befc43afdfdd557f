/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor on the user bus: the name io.agentdeck.Supervisor1, the object
 * /io/agentdeck/Supervisor1 and the interface of the same name (sd_bus_add_object_vtable(3)).
 * docs/bus.md lists its methods.
 *
 * Only the same user may call. The bus belongs to the user, and we also check who sent each call.
 *
 * In a build --without-systemd every function returns SERVICE_NO_BUS.
 */
#pragma once

#include "base/error.h"
#include "model/session/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* SERVICE_NO_BUS: there is no user bus. SERVICE_TAKEN: another process has the name.
 * SERVICE_ABSENT: no process has it. */
enum { SERVICE_NO_BUS = 1, SERVICE_TAKEN = 2, SERVICE_ABSENT = 3 };

struct loop;

enum service_verb { SERVICE_START, SERVICE_STOP, SERVICE_RESTART, SERVICE_RECOVER };

/* A call that waits for its answer. */
struct service_call;

/* List, Get and InstanceChanged show a session as a{sv}, without the texts that are NULL. */
typedef void (*service_each)(const struct facts *session, void *closure);

struct service_operations {
	const char *state; /* the state directory: the property StateDirectory */
	/* Call each for every session. */
	void (*list)(service_each each, void *closure, void *context);
	/* Call each for the session with this id or exact title. False: there is no such session,
	 * or more than one. */
	bool (*get)(const char *target, service_each each, void *closure, void *context);
	/* Begin. service_answer*() gives the answer, at any later time. target is NULL for
	 * SERVICE_RECOVER. */
	void (*act)(enum service_verb verb, const char *target, struct service_call *call,
		    void *context);
};

struct service;

/* Connect to the user bus below user_runtime (or at DBUS_SESSION_BUS_ADDRESS), take the name, and
 * serve while loop runs. Close the service before the loop is freed. operations and context stay
 * the caller's. The caller closes *ret. */
int service_open(const char *user_runtime, struct loop *loop,
		 const struct service_operations *operations, void *context, struct service **ret,
		 struct error *err);
/* Calls that still wait get an error. */
void service_close(struct service *service);
CLEANUP_OF(service_closep, struct service, service_close);
#define cleanup_service CLEANUP(service_closep)

/* Answer a call, and free it: with a word for the outcome ("started", "running", "stopped"), with
 * an error, or with how many sessions run again and how many do not. The service may be closed
 * already. */
void service_answer(struct service_call *call, const char *outcome);
void service_answer_failure(struct service_call *call, const char *message);
void service_answer_recovered(struct service_call *call, uint32_t revived, uint32_t failed);

/* Has the bus gone? Then answers and signals are dropped, and the service does not wake the loop
 * any more. Close it, and open another one when there is a bus again. */
bool service_is_lost(const struct service *service);

/* Send the signal InstanceChanged(s id, a{sv}). It is lost if it cannot be sent; List has the
 * present state. */
void service_changed(struct service *service, const struct facts *session);
/* Send the signal InstanceRemoved(s id). */
void service_removed(struct service *service, const char *id);

/* The process that has the name.  SERVICE_NO_BUS, SERVICE_ABSENT. */
int service_owner(const char *user_runtime, pid_t *ret, struct error *err);
