/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The names on the bus, and the connection to it: for service.c and service-bus.c.
 */
#pragma once

#include "base/error.h"
#include "base/systemd.h"

#define SERVICE_NAME      "io.agentdeck.Supervisor1"
#define SERVICE_PATH      "/io/agentdeck/Supervisor1"
#define SERVICE_INTERFACE "io.agentdeck.Supervisor1"
#define SERVICE_NOT_FOUND "io.agentdeck.Error.NotFound"
#define SERVICE_FAILED    "io.agentdeck.Error.Failed"

#define BUS_NAME      "org.freedesktop.DBus"
#define BUS_PATH      "/org/freedesktop/DBus"
#define BUS_INTERFACE "org.freedesktop.DBus"

/* For a message bus to let us in and to answer the few calls that follow. */
enum { SERVICE_OPEN_TIMEOUT_MS = 3000 };

/* Connect to the user bus, and wait until it has let us in. SERVICE_NO_BUS. The caller closes *ret.
 */
int service_connect(const char *user_runtime, int64_t deadline_ms, sd_bus **ret, struct error *err);
