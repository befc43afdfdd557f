/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * D-Bus by sd-bus(3): with a deadline on every wait, or driven by an event loop (base/loop.h).
 *
 * libsystemd's own blocking calls (sd_bus_call(), sd_bus_flush(), sd_bus_open_user()) wait for the
 * connection's authentication without a limit. Do not use them.
 */
#pragma once

#include "base/loop.h"
#include "base/systemd.h"
#include "base/text.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): a type takes no parentheses
 *
 * Nothing was made as long as the library is not loaded. */
#define UNREF_OF(name, type, destroy)           \
	static inline void name(type **pointer) \
	{                                       \
		if (*pointer)                   \
			sd.destroy(*pointer);   \
	}
UNREF_OF(bus_message_unrefp, sd_bus_message, bus_message_unref)
UNREF_OF(bus_slot_unrefp, sd_bus_slot, bus_slot_unref)
UNREF_OF(bus_unrefp, sd_bus, bus_unref)
UNREF_OF(bus_close_unrefp, sd_bus, bus_close_unref)
/* NOLINTEND(bugprone-macro-parentheses) */
#undef UNREF_OF
static inline void bus_refusal_free(sd_bus_error *refusal)
{
	if (refusal->name)
		sd.bus_error_free(refusal);
}
#define cleanup_message       CLEANUP(bus_message_unrefp)
#define cleanup_slot          CLEANUP(bus_slot_unrefp)
#define cleanup_refusal       CLEANUP(bus_refusal_free)
#define cleanup_bus_reference CLEANUP(bus_unrefp)
/* Closes without a flush, which would wait for a peer that has stopped reading. */
#define cleanup_bus CLEANUP(bus_close_unrefp)

/* For one question to a manager that has answered before. */
enum { BUS_CALL_TIMEOUT_MS = 5000 };

/* Connect to a D-Bus address ("unix:path=..."), or to the system bus when it is NULL. direct: the
 * peer itself listens there, not a message bus. The connection may still be authenticating: the
 * first call waits for that. who names the peer in messages. ERROR_UNAVAILABLE: no process listens.
 * ERROR_TIMEOUT: the listener accepts no connection. */
int bus_connect(const char *address, bool direct, const char *who, int64_t deadline_ms,
		sd_bus **ret, struct error *err);

/* "unix:path=<path>", with the path escaped for D-Bus. The caller frees it. */
char *bus_address_of_path(const char *path) MUST_USE;

/* A method call with these arguments (sd_bus_message_append(3); types NULL: none, or later). The
 * message bus does not start the peer for it. The caller frees *ret. */
struct bus_method {
	const char *name, *path, *interface, *method;
};
#define BUS_GET(name, path) ((struct bus_method){ name, path, BUS_PROPERTIES, "Get" })
#define BUS_PROPERTIES      "org.freedesktop.DBus.Properties"
int bus_new_call(sd_bus *bus, const struct bus_method *method, sd_bus_message **ret,
		 struct error *err, const char *types, ...);

/* sd-bus could not build or read a message; r is what it returned. Returns -1. */
int bus_message_error(struct error *err, int r);
#define bus_message_error(...)                    \
	({                                        \
		(bus_message_error)(__VA_ARGS__); \
		-1;                               \
	})

/* Send, and wait for the answer; ret may be NULL. BUS_REFUSED: the answer is an error, in
 * *ret_refusal. The caller frees both. ERROR_UNAVAILABLE: the peer is not there, or went away.
 * ERROR_TIMEOUT: it does not answer. */
enum { BUS_REFUSED = 1 };
int bus_call(sd_bus *bus, sd_bus_message *call, int64_t deadline_ms, sd_bus_message **ret,
	     sd_bus_error *ret_refusal, struct error *err);

/* Process the connection until a handler sets *done. Errors: as bus_call(). */
int bus_wait(sd_bus *bus, const bool *done, int64_t deadline_ms, struct error *err);

/* The refusal's message, or its name when it has no message. Borrowed. */
const char *bus_refusal_text(const sd_bus_error *refusal);

/* Let the loop process what arrives and send what waits. bus has been started (sd_bus_start(3)).
 * When the peer goes, calls that wait for an answer get an error, and the connection then does
 * nothing more (sd_bus_is_open(3)). Detach it before the loop is freed. */
struct bus_attachment;
int bus_attach(sd_bus *bus, struct loop *loop, struct bus_attachment **ret, struct error *err);
/* NULL is fine. It neither closes nor flushes the bus. */
void bus_detach(struct bus_attachment *attachment);
