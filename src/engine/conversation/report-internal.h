/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One report of an agent, read: what its event means, and which conversation it names.
 */
#pragma once

#include "base/jsonio.h"
#include "engine/place/sender.h"
#include "model/agent/agent.h"
#include "model/session/instance.h"

/* What an event says. */
enum {
	MEANS_START = 1 << 0,
	MEANS_PROMPT = 1 << 1,
	MEANS_BUSY = 1 << 2,
	MEANS_WAITING = 1 << 3,
	MEANS_IDLE = 1 << 4,
	MEANS_TURN = 1 << 5,
	MEANS_END = 1 << 6,
	MEANS_FAILED = 1 << 7,
};

/* Borrowed from the JSON object, and from the instance. */
struct report {
	const struct agent *agent; /* of the instance; borrowed from the deck */
	unsigned meaning;
	bool has_tasks; /* in the background, whose end it waits for */
	const char *event, *kind, *session_id, *transcript_path, *source, *cwd, *failure;
	int64_t limited_until; /* as in struct activity */
	/* whose it is, when the conversation is another instance's; the report's own */
	struct shared_conversation owned;
	enum sender_relation relation;
	struct process_id process; /* of the sender; pid 0: unknown */
};

static inline void report_clear(struct report *report)
{
	shared_conversation_clear(&report->owned);
}
#define cleanup_report CLEANUP(report_clear)

/* Read the object by the names in the agent's entry.  *ret borrows from object and instance, and
 * does not have relation, process and owned yet.  ERROR_CORRUPT: no event, or no valid id. */
int report_decode(struct json_object *object, const struct instance *instance,
		  const struct agent *agent, struct report *ret, struct error *err);

/* Some agents report the start of a fork under the id of its parent, and name the fork from its
 * first turn on. */
bool report_is_start_of_fork(const struct instance *instance, const struct report *report);

/* The id that the present attempt was given, or said first; with BINDS_FIRST, also the one that it
 * has switched to since.  NULL: not known yet.  Borrowed. */
const char *report_attempt_id(const struct instance *instance);

/* The path if it is absolute, else NULL. */
const char *report_absolute(const char *path);
