/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of this build, for people: "0.1.0", or "0.1.0-dev+g1234567" between two releases. */
#pragma once

extern const char agentdeck_version[];

/* The number of the JSON contract (docs/json.md): it changes when a member is renamed or removed,
 * or means something else. */
enum { JSON_PROTOCOL = 1 };
