/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/bus.h"
#include "driver/systemd/service.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/systemd/service-internal.h"

/* Ask the message bus itself about a name. The caller frees *ret. */
static int ask_bus(sd_bus *bus, const char *method, const char *name, int64_t deadline_ms,
		   sd_bus_message **ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;

	const struct bus_method question = { BUS_NAME, BUS_PATH, BUS_INTERFACE, method };
	if (bus_new_call(bus, &question, &call, err, "s", name) < 0)
		return -1;
	int r = bus_call(bus, call, deadline_ms, ret, &refusal, err);
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "the user bus refuses %s of %s: %s", method,
				 name, bus_refusal_text(&refusal));
	return r;
}

static int connect_at(const char *address, int64_t deadline_ms, sd_bus **ret, struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *answer = NULL;

	/* The call waits until the bus has let us in. Only then do we know that a process serves
	 * the socket, and that it is not another user. */
	if (bus_connect(address, false, "the user bus", deadline_ms, &bus, err) < 0 ||
	    ask_bus(bus, "NameHasOwner", BUS_NAME, deadline_ms, &answer, err) < 0)
		return -1;
	*ret = TAKE_PTR(bus);
	return 0;
}

/* The socket below the runtime directory comes first: the supervisor is there. The environment of a
 * login may name another bus (dbus-launch(1)). */
int service_connect(const char *user_runtime, int64_t deadline_ms, sd_bus **ret, struct error *err)
{
	cleanup_free char *socket = path_join(user_runtime, "bus");
	cleanup_free char *bus = bus_address_of_path(socket);
	const char *const addresses[] = { bus, getenv("DBUS_SESSION_BUS_ADDRESS") };

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct error failure = { 0 };
		if (is_empty(addresses[i]) || (i == 1 && streq(bus, addresses[i])))
			continue;
		if (connect_at(addresses[i], deadline_ms, ret, &failure) == 0)
			return 0;
		if (failure.code != ERROR_UNAVAILABLE)
			return error_move(err, &failure);
		error_clear(&failure);
	}
	return SERVICE_NO_BUS;
}

/* Returns SERVICE_ABSENT when the name has no owner. */
static int look_for_owner(sd_bus *bus, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *answer = NULL;
	int there;
	if (ask_bus(bus, "NameHasOwner", SERVICE_NAME, deadline_ms, &answer, err) < 0)
		return -1;
	int r = sd.bus_message_read(answer, "b", &there);
	if (r < 0)
		return bus_message_error(err, r);
	return there ? 0 : SERVICE_ABSENT;
}

/* The supervisor may have gone since look_for_owner(): then this returns SERVICE_ABSENT, too. */
static int ask_for_pid(sd_bus *bus, int64_t deadline_ms, sd_bus_message **ret, struct error *err)
{
	struct error failure = { 0 };
	if (ask_bus(bus, "GetConnectionUnixProcessID", SERVICE_NAME, deadline_ms, ret, &failure) ==
	    0)
		return 0;
	if (failure.code != ERROR_UNAVAILABLE)
		return error_move(err, &failure);
	error_clear(&failure);
	return SERVICE_ABSENT;
}

int service_owner(const char *user_runtime, pid_t *ret, struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *answer = NULL;
	int64_t deadline_ms = clock_ms() + SERVICE_OPEN_TIMEOUT_MS;
	uint32_t pid;

	int r = service_connect(user_runtime, deadline_ms, &bus, err);
	if (r == 0)
		r = look_for_owner(bus, deadline_ms, err);
	if (r == 0)
		r = ask_for_pid(bus, deadline_ms, &answer, err);
	if (r != 0)
		return r;
	r = sd.bus_message_read(answer, "u", &pid);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = (pid_t)pid;
	return 0;
}
