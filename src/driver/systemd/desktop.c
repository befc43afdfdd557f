/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/desktop.h"

#include "driver/systemd/bus.h"
#include "driver/systemd/service-internal.h"

#define NAME "org.freedesktop.Notifications"
#define PATH "/org/freedesktop/Notifications"

enum { URGENCY_NORMAL = 1, URGENCY_CRITICAL = 2, EXPIRES_AS_USUAL = -1 };

static int new_message(sd_bus *bus, const struct desktop_text *text, sd_bus_message **ret,
		       struct error *err)
{
	const int urgency = text->is_urgent ? URGENCY_CRITICAL : URGENCY_NORMAL;
	if (bus_new_call(bus, &(struct bus_method){ NAME, PATH, NAME, "Notify" }, ret, err,
			 "susssasa{sv}i", "agentdeck", (uint32_t)0, "utilities-terminal",
			 text->summary, text->body, 0, 1, "urgency", "y", urgency,
			 EXPIRES_AS_USUAL) < 0)
		return -1;
	/* Many notification daemons are started by their first message. */
	int r = sd.bus_message_set_auto_start(*ret, 1);
	return r < 0 ? bus_message_error(err, r) : 0;
}

int desktop_notify(const char *user_runtime, const struct desktop_text *text, int64_t deadline_ms,
		   struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	struct error local = { 0 };
	int r = service_connect(user_runtime, deadline_ms, &bus, err);
	if (r != 0)
		return r < 0 ? -1 : DESKTOP_NONE;
	if (new_message(bus, text, &call, err) < 0)
		return -1;
	r = bus_call(bus, call, deadline_ms, NULL, &refusal, &local);
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_CHILD, "the desktop refuses a notification: %s",
				 bus_refusal_text(&refusal));
	if (r < 0 && local.code != ERROR_UNAVAILABLE)
		return error_move(err, &local);
	error_clear(&local);
	return r < 0 ? DESKTOP_NONE : 0;
}
