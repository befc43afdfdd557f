/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces desktop.c in a build --without-systemd.
 */
#include "driver/systemd/desktop.h"

int desktop_notify(const char *user_runtime UNUSED, const struct desktop_text *text UNUSED,
		   int64_t deadline_ms UNUSED, struct error *err UNUSED)
{
	return DESKTOP_NONE;
}
