/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * May a session sleep: may its agent be stopped to free its memory, until its user wants it again?
 *
 * Only if its agent is idle for long enough, nothing would be lost, and its conversation comes back
 * for certain.  What is not known counts against it.  Pure.
 */
#pragma once

#include "model/session/instance.h"

/* What is known.  Zero is what is not known. */
struct sleep_facts {
	int64_t after_us; /* how long it has to be idle; 0: it never sleeps */
	bool is_running; /* its agent runs, and is to; no shell is in its place, nothing is asked */
	enum instance_activity activity;
	int64_t idle_us;     /* since when, as a length; 0: not known */
	bool has_work;       /* it waits for tasks in the background, or has prompts in its queue */
	bool is_unwatched;   /* no terminal is attached */
	bool shows_idle;     /* its screen shows its box, and nothing that it does or asks */
	bool has_empty_box;  /* nothing is typed into that */
	bool is_undisturbed; /* no message is on its way to it */
	bool is_alone;       /* no other process runs beside it */
	bool is_resumable;   /* the next start resumes its conversation, which has turns */
};

enum sleep_verdict {
	SLEEP_NOW,
	SLEEP_OFF,
	SLEEP_NOT_RUNNING,
	SLEEP_NOT_IDLE,
	SLEEP_LATER, /* it is not idle for long enough yet */
	SLEEP_BUSY,
	SLEEP_WATCHED,
	SLEEP_UNSEEN,
	SLEEP_DRAFT,
	SLEEP_MESSAGE,
	SLEEP_NOT_ALONE,
	SLEEP_UNPROVEN,
	SLEEP_COUNT
};

enum sleep_verdict sleep_decide(const struct sleep_facts *facts);
/* Why it does not sleep, a clause for people.  Static. */
const char *sleep_why(enum sleep_verdict verdict);
