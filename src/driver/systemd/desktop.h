/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notifications on the user's desktop: org.freedesktop.Notifications on the user's bus.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct desktop_text {
	const char *summary; /* shown as it is */
	const char *body;    /* some desktops read markup in it: no text of others */
	bool is_urgent;      /* stays until the user looks, where the desktop does so */
};

/* DESKTOP_NONE: there is no user bus, no such service on it, or we are built --without-systemd. */
enum { DESKTOP_NONE = 1 };

/* Show it.  ERROR_TIMEOUT: the desktop did not answer by deadline_ms of clock_ms(); it may show the
 * text later. */
int desktop_notify(const char *user_runtime, const struct desktop_text *text, int64_t deadline_ms,
		   struct error *err);
