/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Have another process of ours start a program: the program is then in the tree and in the control
 * group of that process, and outlives what asked for it.
 *
 * A connection to a Unix socket is for one program: the request and its descriptors go there, its
 * pid and later its exit status come back.  child.h uses it (child_request.spawner).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/types.h>

struct spawner_request {
	struct strvec argv, environment;
	int stdio[3];  /* its descriptors 0, 1 and 2 */
	int directory; /* its working directory; -1: that of the process that starts it */
	bool new_session;
};
#define SPAWNER_REQUEST_EMPTY ((struct spawner_request){ .stdio = { -1, -1, -1 }, .directory = -1 })
/* Closes the descriptors, too. */
void spawner_request_clear(struct spawner_request *request);
#define cleanup_spawner_request CLEANUP(spawner_request_clear)

/* ---- who asks --------------------------------------------------------------------------------- */

/* ERROR_UNAVAILABLE: no process of ours listens there.  *ret is the caller's. */
int spawner_connect(const char *path, int *ret, struct error *err);
/* argv and environment end with NULL; stdio and directory as in struct spawner_request, and stay
 * the caller's.  *ret_pidfd is the caller's (pidfd_open(2)). */
struct spawner_order {
	const char *const *argv;
	char *const *environment;
	const int *stdio;
	int directory;
	bool new_session;
};
int spawner_ask(int fd, const struct spawner_order *order, pid_t *ret_pid, int *ret_pidfd,
		struct error *err);
/* The program has ended: its exit status, or 128 + signal number. */
int spawner_await(int fd);

/* ---- who starts it ---------------------------------------------------------------------------- */

/* A socket of this name, which replaces one that is there.  *ret is the caller's. */
int spawner_listen(const char *path, int *ret, struct error *err);
/* A connection of our own user, which does not block.  -1: there is none.  The caller closes it. */
int spawner_accept(int listener);
int spawner_take(int fd, struct spawner_request *ret, struct error *err);
/* pid: negative for an error number.  pidfd: -1 then. */
void spawner_answer(int fd, pid_t pid, int pidfd);
void spawner_tell_end(int fd, int status);
