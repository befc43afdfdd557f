/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reattaching: what a terminal that is attached to a session of another host does while its link
 * comes and goes.
 *
 * Pure: no input or output here.  Times are those of clock_ms().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum reattach_event {
	REATTACH_ENDED,   /* the ssh that shows the session has ended */
	REATTACH_NETWORK, /* this machine has another address, or was asleep */
	REATTACH_ANSWERS, /* the attempt, or the check, has reached the host */
	REATTACH_SILENT,  /* it has not */
	REATTACH_UNNAMED, /* it has, and the host has no machine id yet */
	REATTACH_REFUSED, /* the host wants something from its user first */
	REATTACH_DUE,     /* reattach.due_ms has passed */
	REATTACH_KEY,     /* any other key than the next one */
	REATTACH_LEAVE,   /* the key that leaves a session */
};

enum reattach_action {
	REATTACH_WAIT,  /* for the next event, or until due_ms */
	REATTACH_TRY,   /* begin an attempt: none runs */
	REATTACH_SHOW,  /* show the session in the terminal */
	REATTACH_CHECK, /* whether the connection still works, while the session is shown */
	REATTACH_CUT,   /* end the ssh that shows it */
	REATTACH_END, /* reattach.status is the exit status; reattach.is_lost: there was no answer */
};

enum {
	REATTACH_KILLED = 128,    /* and the number of the signal, or more */
	REATTACH_SSH_FAILED = 255 /* ssh(1) */
};

/* Zero-initialised: the session is about to be shown for the first time. */
struct reattach {
	enum { REATTACH_SHOWN, REATTACH_WAITING, REATTACH_TRYING } phase;
	bool is_ours;    /* the connection is one that can be made again without its user */
	bool is_cut;     /* we have ended its ssh */
	bool is_lost;    /* the host does not answer, as far as we know */
	unsigned brief;  /* how often in a row the host answered, and the session was not shown for
			    long */
	bool ends_there; /* so often that the link is not the reason */
	int64_t shown_ms, checked_ms, lost_ms, tried_ms;
	int64_t unnamed_ms; /* since when it has no machine id; 0: it has, or does not answer */
	int64_t due_ms;     /* INT64_MAX: never */
	int status;
};

/* status: of REATTACH_ENDED. */
enum reattach_action reattach_next(struct reattach *reattach, enum reattach_event event, int status,
				   int64_t now_ms);

/* What a message says of a host that has no machine id yet. */
#define REATTACH_UNNAMED_WORDS "does not know who it is yet"

/* Does ssh say that trying again is no use before its user has done something? */
bool reattach_needs_user(const char *words);
