/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What both sides of driver/service.h share.
 */
#pragma once

#include "driver/service.h"
#include "driver/unit-internal.h"

#define SERVICE_NAME "io.agentdeck.Supervisor1"
#define SERVICE_PATH "/io/agentdeck/Supervisor1"
#define SERVICE_INTERFACE "io.agentdeck.Supervisor1"
#define SERVICE_NOT_FOUND "io.agentdeck.Error.NotFound"
#define SERVICE_FAILED "io.agentdeck.Error.Failed"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define BUS_INTERFACE "org.freedesktop.DBus"

/* How long a message bus may take to let somebody in and to answer the few questions that follow. */
enum { SERVICE_OPEN_TIMEOUT_MS = 3000 };

/* The user bus, which has said hello.  SERVICE_NO_BUS.  *ret is the caller's. */
int service_connect(const char *user_runtime, int64_t deadline_ms, sd_bus **ret, struct error *err);

/* Ask the message bus itself something about a name. *ret is the caller's. */
int service_ask_bus(sd_bus *bus, const char *method, const char *name, int64_t deadline_ms,
		    sd_bus_message **ret, struct error *err);
