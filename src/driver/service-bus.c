/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/service-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"

int service_ask_bus(sd_bus *bus, const char *method, const char *name, int64_t deadline_ms,
		    sd_bus_message **ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;

	if (bus_new_call(bus, BUS_NAME, BUS_PATH, BUS_INTERFACE, method, &call, err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "s", name);
	if (r < 0)
		return bus_message_error(err, r);
	r = bus_call(bus, call, deadline_ms, ret, &refusal, err);
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "the user bus refuses %s of %s: %s", method, name,
				 bus_refusal_text(&refusal));
	return r;
}

static int connect_at(const char *address, int64_t deadline_ms, sd_bus **ret, struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *answer = NULL;

	/* The question is there to wait until the connection is let in: a socket that nobody serves any more, or
	 * that of another user, shows only then. */
	if (bus_connect(address, false, "the user bus", deadline_ms, &bus, err) < 0 ||
	    service_ask_bus(bus, "NameHasOwner", BUS_NAME, deadline_ms, &answer, err) < 0)
		return -1;
	*ret = TAKE_PTR(bus);
	return 0;
}

/* The socket below the runtime directory goes first: a login whose environment names a bus of its own (dbus-launch(1))
 * would look for the supervisor where it is not. */
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
		if (failure.code != ERROR_UNAVAILABLE) {
			if (err)
				*err = failure;
			else
				error_clear(&failure);
			return -1;
		}
		error_clear(&failure);
	}
	return SERVICE_NO_BUS;
}
