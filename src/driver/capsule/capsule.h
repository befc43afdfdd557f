/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The capsule of a container, as this host talks to it: over the socket in the capsule's directory,
 * with the frames of capsule/frame.h.  docs/containers.md has the protocol and its crash table.
 *
 * The capsule is PID 1 of the container.  It starts an agent only when it is told to, and it
 * outlives the agent.  Its process on this host is known from the socket (SO_PEERCRED), so no
 * engine is asked whether it lives.
 *
 * Nothing here blocks beyond its deadline (clock_ms()).
 */
#pragma once

#include "base/process.h"
#include "base/text.h"
#include "capsule/endpoint.h"
#include "capsule/hookfile.h"

/* Names below the capsule's directory.  It is mounted into the container at the same path. */
#define CAPSULE_SOCKET  ENDPOINT_SOCKET
#define CAPSULE_TOKEN   ENDPOINT_TOKEN   /* written by us for each run */
#define CAPSULE_EXIT    ENDPOINT_EXIT    /* how the last agent ended, written by the capsule */
#define CAPSULE_REPORTS ENDPOINT_REPORTS /* a directory: one file for each report of a hook */

/* A fixed place in every container. */
#define CAPSULE_PROGRAMS "/agentdeck/bin"

struct capsule; /* a connection that has said hello */

/* CAPSULE_ABSENT: no process listens.  CAPSULE_SILENT: one may, and does not answer in time. */
enum { CAPSULE_ABSENT = 1, CAPSULE_SILENT = 2 };

/* Connect and say hello with the token of the directory.  The peer is proved by SO_PEERCRED: our
 * own user as this host sees it, or root.  ERROR_SYSTEM: it is another user's, or it does not
 * accept the token.  ERROR_NOT_FOUND: there is no token.  The caller closes *ret. */
int capsule_connect(const char *directory, int64_t deadline_ms, struct capsule **ret,
		    struct error *err);
/* Wait until a capsule listens there, and connect.  ERROR_TIMEOUT. */
int capsule_await(const char *directory, int64_t deadline_ms, struct capsule **ret,
		  struct error *err);
void capsule_close(struct capsule *capsule);
CLEANUP_OF(capsule_closep, struct capsule, capsule_close);
#define cleanup_capsule CLEANUP(capsule_closep)

/* The capsule's process on this host.  pid 0: the host does not see it (a virtual machine's
 * engine). */
struct process_id capsule_process(const struct capsule *capsule);
/* The agent's process on this host, as the last capsule_status() or capsule_start() on this
 * connection saw it.  pid 0: none runs, or the host does not see it. */
struct process_id capsule_agent(const struct capsule *capsule);

enum capsule_phase {
	CAPSULE_EMPTY,   /* no agent was started since the capsule was */
	CAPSULE_RUNNING, /* the agent of this attempt runs */
	CAPSULE_ENDED,   /* it has ended */
};

struct capsule_status {
	enum capsule_phase phase;
	char run[40];     /* run id of the last START; "" for CAPSULE_EMPTY */
	unsigned attempt; /* of that run */
	int code, signal; /* for CAPSULE_ENDED: exit status when signal is 0 */
	bool by_stop;     /* for CAPSULE_ENDED: as in struct capsule_exit */
};
int capsule_status(struct capsule *capsule, int64_t deadline_ms, struct capsule_status *ret,
		   struct error *err);

/* What the capsule needs to start the agent of one attempt.  All borrowed. */
struct capsule_start {
	const char *run;
	unsigned attempt;
	const struct strvec *argv;
	/* NAME=VALUE, over the container's own; or NULL.  NAME: what capsule_keep_secrets() has
	 * sent.  Secrets may be here: they are sent to the capsule, which wipes them. */
	const struct strvec *environment;
	const char *directory;
	unsigned columns, rows;
};

/* Send the secrets (NAME=VALUE) that the starts of this run may name.  The capsule keeps them only
 * in memory, until an agent has run for keep_ms, other secrets replace them, or the capsule ends.
 * CAPSULE_OLD: this version of the capsule keeps no secrets. */
enum { CAPSULE_OLD = 3 };
struct capsule_secrets {
	const char *run;
	unsigned keep_ms;
	const struct strvec *variables; /* borrowed */
};
int capsule_keep_secrets(struct capsule *capsule, const struct capsule_secrets *secrets,
			 int64_t deadline_ms, struct error *err);
/* Does this version of the capsule keep secrets? */
bool capsule_keeps_secrets(const struct capsule *capsule);

/* Start the agent.  *ret: its process on this host; pid 0 where that is not visible, and when the
 * agent has ended already (capsule_status() tells).  0 also when this very attempt of this run was
 * started before: nothing is started twice.  ERROR_INVALID:
 * another one runs.  ERROR_CHILD: it could not be executed; the message says why. */
int capsule_start(struct capsule *capsule, const struct capsule_start *start, int64_t deadline_ms,
		  struct process_id *ret, struct error *err);

/* Read all that the agent of attempt 0 of this run writes to its terminal, until it has ended: the
 * text, without carriage returns, appended to *ret, and how it ended.  ERROR_TIMEOUT: it had not.
 * ERROR_INVALID: it is not the last attempt.  Of a long text, at least the last MiB. */
int capsule_read_output(struct capsule *capsule, const char *run, int64_t deadline_ms,
			struct strbuf *ret, struct capsule_status *ret_status, struct error *err);

/* Start a guest in the capsule's container, unless it lives: the capsule of another session, in
 * this directory, which the container has at the same path.  *ret: its process on this host.  It
 * listens some time later: capsule_await().  CAPSULE_OLD: this version of the capsule has no
 * guests.  ERROR_INVALID: the capsule is about to end.  ERROR_CHILD: the container lacks the
 * directory. */
struct capsule_guest {
	const char *directory;
	const char *variable; /* "NAME=VALUE" of its environment, which says whose it is */
	/* The container's own session is not to run, so it ends with the last guest. */
	bool ends_with_it;
};
int capsule_add_guest(struct capsule *capsule, const struct capsule_guest *guest,
		      int64_t deadline_ms, struct process_id *ret, struct error *err);

/* End the agent in order (SIGHUP and SIGTERM, SIGKILL after grace_ms) and then the capsule, which
 * ends the container.  Returns when the connection has ended, which is when the capsule has.
 * CAPSULE_STAYS: the agent and what it left have ended, and the capsule serves on for its guests.
 * ERROR_TIMEOUT: it had not, some seconds after the grace. */
enum { CAPSULE_STAYS = 4 };
int capsule_stop(struct capsule *capsule, int grace_ms, struct error *err);

/* What exit.json in the directory says.  FS_ABSENT: there is none, or it is of another run.
 * by_stop: the agent was ended by a stop, not by its own wish. */
struct capsule_exit {
	unsigned attempt;
	int code, signal;
	bool by_stop;
};
int capsule_read_exit(const char *directory, const char *run, struct capsule_exit *ret,
		      struct error *err);
