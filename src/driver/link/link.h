/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The near end of a link (docs/link.md): runs a program that leads to agentdeck serve on another
 * host, and has commands run there.  Whatever comes from there is hostile input.
 */
#pragma once

#include "model/link/frame.h"

struct link;

/* What the other side says about itself.  Only for people and for comparison. */
struct link_hello {
	const char *version;    /* of its agentdeck, or "" */
	const char *machine_id; /* a UUID, or NULL */
	const char *state;      /* which state directory of that machine, or NULL */
	int64_t now_us;         /* its clock; -1: not known */
	struct json_object *facts;
};

/* The exit status of a program that leads there and says why nothing runs there now. */
enum { LINK_NOT_RUNNING = 69 };

/* Start the program, wait for its hello until deadline_ms of clock_ms(), and answer it.
 * ERROR_UNAVAILABLE: there is no such program here, or it said
 * why nothing runs there.  ERROR_TIMEOUT: there was no hello in time.
 * ERROR_CHILD: ssh failed.  ERROR_INVALID: a signal ended the wait.  ERROR_CORRUPT: what ran there
 * is no agentdeck, or it did not start. ERROR_NEWER: both sides have no protocol in common. */
int link_open(const struct strvec *argv, int64_t deadline_ms, struct link **ret, struct error *err);
void link_close(struct link *link);
CLEANUP_OF(link_closep, struct link, link_close);
#define cleanup_link CLEANUP(link_closep)

/* Borrowed from the link. */
const struct link_hello *link_hello(const struct link *link);

struct link_request {
	const struct strvec *words; /* the command line behind "agentdeck" */
	int input;                  /* its standard input, sent as it comes; -1: none */
	/* Output of the command as it comes; bytes are borrowed.  A handler that has to wait calls
	 * link_keep() several times in a second.  Less than 0: the command is cancelled. */
	int (*on_bytes)(enum link_stream stream, const char *bytes, size_t length, void *context);
	void *context;
	bool needs_reader; /* cancel it when standard output is read no more */
	/* When it is cancelled, and the link given up: ERROR_UNREACHABLE; 0: never */
	int64_t deadline_ms;
};

/* Run a command, and wait for its exit status.  SIGINT, SIGTERM and SIGHUP cancel it unless our
 * caller ignores them; a second one gives up.  ERROR_UNREACHABLE: the link is lost, or was given
 * up; the command may still run.  ERROR_INVALID, ERROR_USAGE: it was refused, and did not run.
 * ERROR_SYSTEM: the input could not be read, and the command was cancelled. */
int link_run(struct link *link, const struct link_request *request, int *ret_status,
	     struct error *err);
/* Has a signal cancelled or ended something? */
bool link_is_given_up(const struct link *link);
/* Tell the other side that we are here, at most every 5 s.  False: a signal waits to be seen. */
bool link_keep(struct link *link);
