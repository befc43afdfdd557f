/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck hook` in a container, which is the capsule by another name: each report of the agent's
 * hooks becomes a file in the directory of reports, TIME-PID.json: a line about its sender, and
 * then the report as the agent wrote it.  A report is durable before the hook ends, so it can wait
 * for as long as it must.  The host takes the files in the order of their names, and removes them.
 */
#pragma once

#include "base/process.h"

enum {
	HOOKFILE_MAX = 64 << 20,     /* a longer report is read to its end, and dropped */
	HOOKFILE_TIMEOUT_MS = 10000, /* for the agent to write it */
};

/* The processes that run this one as an agent's hook: the agent, and its ancestors, nearest first.
 * The shell that runs the hook for it is left out (agent -> sh -c "... hook ..." -> agentdeck hook).
 * 0: not known.  To be called before the report is read: a process that has ended cannot be found.
 */
size_t hookfile_senders(struct process_id *ret, size_t size);

/* The first line of a report's file: "from RUN PID/START PID/START...", with the pids of the
 * container. */
enum { HOOKFILE_LINE_MAX = 4096, HOOKFILE_SENDERS_MAX = 64 };
struct hookfile_line {
	char run[40]; /* in whose environment the hook was; "-": in none */
	struct process_id senders[HOOKFILE_SENDERS_MAX];
	size_t count;
};
/* Read it at the beginning of text.  *ret_length: with its end of line.  ERROR_CORRUPT. */
int hookfile_read_line(const char *text, size_t length, struct hookfile_line *ret,
		       size_t *ret_length, struct error *err);

/* Take one report: payload, or, if that is NULL, what input has up to its end.  directory: the
 * capsule's.  Then tell the capsule, if it listens, so that its windows know. */
struct hookfile_report {
	const char *directory, *payload;
	int input;
	const char *run; /* NULL: unknown */
};
int hookfile_take(const struct hookfile_report *report, struct error *err);
