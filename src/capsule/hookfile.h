/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck hook` in a container, which is the capsule by another name: each report of the agent's
 * hooks becomes a file in the directory of reports, TIME-PID.json, as the agent wrote it.  A report
 * is durable before the hook ends, so it can wait for as long as nobody reads.  The host takes the
 * files in the order of their names, and removes them.
 */
#pragma once

#include "base/error.h"

enum {
	HOOKFILE_MAX = 64 << 20,     /* a longer report is read to its end, and dropped */
	HOOKFILE_TIMEOUT_MS = 10000, /* for the agent to write it */
};

/* Take one report: payload, or, if that is NULL, what input has up to its end.  directory: the
 * capsule's.  Then tell the capsule, if it listens, so that its windows know. */
struct hookfile_report {
	const char *directory, *payload;
	int input;
};
int hookfile_take(const struct hookfile_report *report, struct error *err);
