/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of a capsule's directory, and its socket: by which name it is reached, who is at the
 * other end.  The directory is mounted into the container at the same path.
 */
#pragma once

#include "base/error.h"

#include <sys/socket.h>

#define ENDPOINT_SOCKET  "capsule.sock"
#define ENDPOINT_TOKEN   "token"     /* what proves a client; read at each HELLO */
#define ENDPOINT_EXIT    "exit.json" /* capsule/record.h */
#define ENDPOINT_REPORTS "reports"   /* capsule/hookfile.h */

/* In the agent's environment, for its hooks: the capsule's directory, and the id of the run.  Not
 * AGENTDECK_RUN: a window without a scope ends all processes that have that. */
#define ENDPOINT_VARIABLE "AGENTDECK_CAPSULE"
#define ENDPOINT_RUN      "AGENTDECK_CAPSULE_RUN"

/* What the programs here end with when it is not the agent's own end (sysexits.h, and above). */
enum {
	ENDPOINT_EXIT_USAGE = 64,
	ENDPOINT_EXIT_GONE = 69,   /* the view: the capsule has gone, and left no record */
	ENDPOINT_EXIT_FAILED = 70, /* the program itself failed; it has said why */
};

/* Connect to the socket in the directory that dirfd means.  *ret, the caller's, does not block.
 * ENDPOINT_ABSENT: no process listens.  ENDPOINT_FULL: too many wait to be served; try again. */
enum { ENDPOINT_ABSENT = 1, ENDPOINT_FULL = 2 };
int endpoint_connect(int dirfd, int *ret, struct error *err);

/* Listen in the working directory, with mode 0600; what an earlier capsule left is replaced.  The
 * name appears when clients can connect.  *ret, the caller's, does not block. */
int endpoint_listen(int *ret, struct error *err);

/* The process at the other end (SO_PEERCRED), as our namespaces show it.  ERROR_SYSTEM: it belongs
 * to another user than ours and root. */
int endpoint_peer(int fd, struct ucred *ret, struct error *err);

/* Read the token in the directory that dirfd means into ret (size bytes).  ERROR_NOT_FOUND,
 * ERROR_CORRUPT: there is no usable one. */
int endpoint_token(int dirfd, char *ret, size_t size, struct error *err);
