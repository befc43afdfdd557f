/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is worth a notice ([notify] on), and giving it.
 *
 * A process that watches a roster (the supervisor, an attached terminal) asks notify_doing() and
 * notify_end() of each event, and hands what they name to notify_send().  That starts
 * `agentdeck notice`, which tells the terminals and the desktop (engine/roster/notice.h) and runs
 * the user's own command.  So a tmux server, a desktop or a command that does not answer delays
 * no other, and the time limits hold whatever becomes of the watcher.
 *
 * The command ([notify] command) is run with its arguments and no shell, and reads one JSON object
 * (docs/json.md, "A notification").
 */
#pragma once

#include "base/loop.h"
#include "engine/deck/deck.h"
#include "engine/roster/roster.h"

#include <sys/resource.h>

enum {
	NOTIFY_TIMEOUT_MS = 10000,     /* of the command */
	NOTIFY_PAYLOAD_MAX = 64 << 10, /* it fits a pipe */
};

/* What an event is an occasion for, as in [notify] on; NULL: none.  Static.  notify_doing(): what
 * the agent does; notify_end(): that the session ended, where is_left says that it is not
 * restarted. */
const char *notify_doing(const struct roster_event *event);
const char *notify_end(const struct roster_event *event, bool is_left);

struct notification {
	const char *occasion;
	const struct roster_entry *entry;
	const char *message; /* one sentence for people; NULL: the usual one */
};

/* Give it.  This returns at once; failures are logged.  files: the RLIMIT_NOFILE of what is
 * started; NULL: ours. */
void notify_send(const struct deck *deck, struct loop *loop, const struct notification *wish,
		 const struct rlimit *files);

/* What the command reads, one line; the caller frees. */
char *notify_payload(const struct notification *notification) MUST_USE;

/* NOTIFY_UNWANTED: there is no command, or it is not for this occasion. */
enum { NOTIFY_UNWANTED = 1 };

/* failure: NULL, or what went wrong.  ERROR_UNAVAILABLE: there is no such program; ERROR_TIMEOUT:
 * it was killed with all that it started; ERROR_CHILD: it failed, and the message ends with what it
 * said. */
typedef void (*notify_handler)(const struct error *failure, void *context);

/* Run the command.  The handler is called once, in a later turn of the loop. */
struct notify_call {
	const char *occasion, *payload;
	int timeout_ms; /* then it is killed, as long as the loop runs */
};
int notify_start(const struct deck *deck, struct loop *loop, const struct notify_call *call,
		 notify_handler handler, void *context);
