/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents tell us at their events: one JSON object, on the standard input of `agentdeck hook`
 * or as its last argument.  The names of the members and the meaning of the events are in the
 * agent's entry.
 *
 * A report counts only if it is the present run's own:
 *   - it carries the run's token (ENV_TOKEN in the hook's environment), or comes out of the run's
 *     container (sender.run);
 *   - the agent of the run is what runs now, not the shell at the end of the ladder;
 *   - it is not a late word of an attempt that failed before this one;
 *   - where events bind the first id (BINDS_FIRST), it names no other conversation than the run's,
 * unless it is a start that says that the user went to another one inside the agent;
 *   - it is in the instance's directory, below it, or where the agent said last that it is.
 * Agents report where they have gone (cd, a worktree), and a conversation belongs to the directory
 * that it began in: so a report of the conversation that we know counts wherever it is made, and
 * tells where the agent is; another conversation that begins elsewhere is that of another agent,
 * which inherited our environment.
 *
 * A report may move the conversation's id: the user may have cleared the agent, or picked another
 * conversation inside.  It never does so at an agent's end.  What a nested agent
 * (SENDER_NESTED) reports of another conversation is ignored.  The session's own agent may begin
 * one without saying why (it has executed itself in place), and moves to it with its first turn.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/place/sender.h"

enum {
	REPORT_MAX = 1 << 20, /* of the text that is kept */
	/* a longer string of it is cut: what counts are ids and paths */
	REPORT_STRING_MAX = 16 << 10,
	REPORT_DRAIN_MAX = 64 << 20, /* of what is read at all */
	REPORT_TIMEOUT_MS = 10000,
};

/* Read one report up to the end of fd, so that its writer is not hit by SIGPIPE; long
 * strings (a prompt, what a tool printed) are cut.  ERROR_CORRUPT: larger than REPORT_MAX all the
 * same (read to its end), or than REPORT_DRAIN_MAX.  ERROR_TIMEOUT: it does not end by deadline_ms
 * of clock_ms(). */
int report_read(int fd, int64_t deadline_ms, struct strbuf *ret, struct error *err);

/* REPORT_FOREIGN: it is not the present run's own, and was ignored. */
enum { REPORT_FOREIGN = 1 };

/* One report for the instance of this base. */
struct report_parcel {
	struct deck *deck;
	const char *base;
	const struct sender *sender;
	const char *text;
	size_t length;
};
/* What the agent did before the report, and what it does now.  Both are ACTIVITY_UNKNOWN if the
 * report was not taken, means nothing, or is an end. */
struct report_news {
	enum instance_activity before, now;
	int64_t since_us; /* it does so; since the Epoch */
};
/* Take one report.  REPORT_FOREIGN.  ERROR_CORRUPT: the text is not a report.  ERROR_BUSY: the
 * session is locked.  After an error the activity file may be written, and the manifest not: the
 * next report makes up for it.  *ret_news is set in any case. */
int report_take(const struct report_parcel *parcel, struct report_news *ret_news,
		struct error *err);

/* The agent's own note of its run (session.processes of its entry) says which conversation it is in
 * or, when it has been killed, was in.  It is followed as a report of /resume would be: the report
 * may have been lost, or the agent makes none.  Only to a conversation in which something was said,
 * and only outside of containers.  REPORT_FOLLOWED: the instance was changed, and is not saved.
 * lock: as for conversation_reclaim_and_log(); NULL for a look. */
enum { REPORT_FOLLOWED = 1 };
int report_take_note(struct deck *deck, struct instance *instance, const struct agent *agent,
		     struct fs_lock *lock, struct error *err);
