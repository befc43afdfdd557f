/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parts of the supervisor among themselves, from the top down:
 *
 *   supervise.c          begin and end
 *   supervise-lock.c     one supervisor for each state directory on each machine
 *   supervise-session.c  one session: the decision (decide.h), and what comes of it
 *   supervise-calls.c    the calls and signals of the bus
 *   supervise-answers.c  the process that follows the answers to notifications
 *   supervise-ends.c     the word before an engine ends the host
 *   supervisor.c         what all of them share
 */
#pragma once

#include "base/fsutil.h"
#include "engine/supervise/supervisor.h"

/* ---- supervise-lock.c ------------------------------------------------------------------------- */

/* The lock of the state directory's supervisor.  ERROR_BUSY: another one has it.  As a service,
 * whose manager would only start it again and again, it waits instead, whatever hinders it:
 * SUPERVISE_ENDED and SUPERVISE_AGAIN tell of a signal that came meanwhile, SUPERVISE_LOCKED of
 * success. */
enum { SUPERVISE_LOCKED = 3 };
int supervise_lock(struct deck *deck, struct fs_lock *ret, struct error *err);

/* ---- supervise-session.c ---------------------------------------------------------------------- */

/* Something of it is other than before: decide, do it, and tell the others. */
void session_on_event(struct supervisor *supervisor, const struct roster_event *event);
void session_free(struct session *session);

/* ---- supervise-calls.c ------------------------------------------------------------------------ */

void calls_open(struct supervisor *supervisor);
/* Tell the bus. */
void calls_session_changed(struct session *session);
void calls_session_removed(struct session *session);
/* Tell the user.  occasion: as in [notify] on; NULL: nothing.  message: as in struct
 * notification. */
void calls_notify(struct session *session, const char *occasion, const char *message);

/* ---- supervise-answers.c ---------------------------------------------------------------------- */

/* Keep one process that follows [notify] answers, if there is such a topic; and end it. */
void answers_open(struct supervisor *supervisor);
void answers_close(const struct supervisor *supervisor);

/* ---- supervise-ends.c ------------------------------------------------------------------------- */

/* When the engine ends this host, in seconds since the Epoch. */
#define SUPERVISE_ENDS "AGENTDECK_ENDS_AT"
/* Tell the users of all sessions that live, ten minutes before, or now if that is over. */
void ends_open(struct supervisor *supervisor);
