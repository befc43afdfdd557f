/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The identity of a host that an engine makes: a Pod, a container, a job (docs/clusters.md).
 *
 * Such a host has no machine id of its own, and its next incarnation can run in another PID
 * namespace, with another kernel, on another machine.  So its state directory is the host.  A main
 * program (`agentdeck supervise --main`) holds it, and writes here which incarnation it is.  A
 * command in the same boot and PID namespace belongs to it; every other one that sees the directory
 * does not.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define INCARNATION_FILE   "main.json"
#define INCARNATION_LOCK   "main.lock" /* held by the main program */
#define INCARNATION_SOCKET "main.sock" /* in the runtime directory */
/* The variable that marks what its main program has started: the id of the incarnation. */
#define INCARNATION_MARK "AGENTDECK_MAIN"

/* How far an incarnation is, in 20 bytes, is in main-<id>.beat.  A late writer so changes the file
 * of its own incarnation at most, and needs no space on the disk. */

struct incarnation {
	char *host; /* the id of the host, made once for the state directory */
	char *id;   /* made by each main program */
	char *name; /* of the engine: a Pod's uid, a job and its restarts; or NULL */
	char *boot_id, *pid_namespace, *machine;
	char *runtime; /* has the socket, and run/ with the directories of the runs */
	bool is_first; /* PID 1 of its namespace: no process outlives it there */
	int lease_s;   /* it says that it lives, and ends all when it could not for so long; or 0 */
	/* of main-<id>.beat: */
	int64_t beat; /* one more each time that it says that it lives */
	bool is_over; /* it has ended, and no process of it is left */
};
void incarnation_clear(struct incarnation *incarnation);
#define cleanup_incarnation CLEANUP(incarnation_clear)

/* What the state directory says.  INCARNATION_NONE: no main program has held it yet. */
enum { INCARNATION_NONE = 1 };
int incarnation_read(const char *state, struct incarnation *ret, struct error *err);
/* For its main program, which has taken over. */
int incarnation_write(const char *state, const struct incarnation *incarnation, struct error *err);
/* Write the beat, or INCARNATION_OVER.  INCARNATION_NONE: another main program has taken over. */
#define INCARNATION_OVER (-1)
int incarnation_say(const char *state, const char *id, int64_t beat, struct error *err);

/* Whether it is of this boot and PID namespace. */
bool incarnation_is_here(const struct incarnation *incarnation);
/* The mark as "NAME=VALUE".  The caller frees. */
char *incarnation_mark(const struct incarnation *incarnation) MUST_USE;

/* For how many seconds must a free lock and an unchanged record have been seen before a successor
 * may start what this one ran?  is_fenced: the engine never runs two at once.  INCARNATION_UNKNOWN:
 * no wait proves it. */
enum {
	INCARNATION_UNKNOWN = -1,
	INCARNATION_KILLED_S = 1,
	INCARNATION_LEASE_S = 60, /* unless it says another one */
	INCARNATION_LEAST_S = 6,
	INCARNATION_MOST_S = 3600,
	INCARNATION_ENDING_S = 30 /* more: what runs has to end */
};
int incarnation_wait_s(const struct incarnation *before, bool is_fenced);
