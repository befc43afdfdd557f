/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of this build, for people: "0.2.0", or "0.2.0-dev+g1234567" between two releases. */
#pragma once

extern const char agentdeck_version[];

/* The version behind AGENTDECK_STAMP.  Each program has it in its file, so that `agentdeck doctor`
 * can tell the version of a helper without running it. */
#define AGENTDECK_STAMP "agentdeck-version="
extern const char agentdeck_stamp[];

/* The number of the JSON contract (docs/json.md): it changes when a member is renamed or removed,
 * or means something else. */
enum { JSON_PROTOCOL = 1 };
