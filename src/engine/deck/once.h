/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands that are run at most once: each has an id from its caller (--once).  A caller that lost
 * the answer asks with the id, and never repeats.
 *
 * The ids are files of the state directory (docs/state-format.md).  A command holds the lock of its
 * file as long as it runs.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/deck/deck.h"

struct once {
	struct fs_lock lock; /* of the id's file */
};
#define ONCE_NONE ((struct once){ .lock = FS_UNLOCKED })

/* Take the id for this process.  ERROR_USAGE: it is none.  ERROR_EXISTS: it was taken, or asked
 * for, before. */
enum once_need {
	ONCE_MUST_BE_KEPT, /* the command changes something */
	ONCE_MAY_BE_LOST   /* where nothing can be written, it runs all the same */
};
int once_begin(const struct deck *deck, const char *id, enum once_need need, struct once *ret,
	       struct error *err);
/* The command ends with this exit status.  Does nothing without an id. */
void once_end(struct once *once, int status);

/* Let no command have this id from now on; it is no command's. */
int once_refuse(const struct deck *deck, const char *id, struct error *err);
bool once_is_refused(const struct deck *deck, const char *id);

enum once_state {
	ONCE_REFUSED, /* no command had the id, and none can have it any more */
	ONCE_RUNNING,
	ONCE_ENDED,
	ONCE_CUT, /* it was killed: what it had done by then is unknown */
	ONCE_STATES
};
extern const char *const once_state_words[ONCE_STATES];

/* What became of it?  While the command runs, this waits until deadline_ms of clock_ms().
 * *ret_status: of ONCE_ENDED, its exit status. */
int once_ask(const struct deck *deck, const char *id, int64_t deadline_ms, enum once_state *ret,
	     int *ret_status, struct error *err);
