/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What changes, as it changes: sessions that start, end, come and go, and what their agents are doing.
 *
 * From the files (driver/follow.h) and from the ends of tmux servers and agents (pidfd_open(2)), since who is killed writes
 * nothing down; so nobody has to run beside it, and nothing is polled.  Except: what an agent without reports is doing is
 * only on its screen, which is looked at once a second if that is wished.
 */
#pragma once

#include "engine/deck.h"

/* One session as it is now.  Borrowed, and valid during the call. */
struct change {
	const char *profile, *id, *title;
	const char *state;    /* as in listings: "running", "unknown", ...; "removed" */
	const char *activity; /* "busy", ..., "unknown"; NULL when it does not run */
	const char *reason;   /* NULL: nothing to say */
	int64_t since_us;     /* of the activity where that is known, else of the state; since the Epoch, 0: unknown */
};
typedef void (*change_handler)(const struct change *change, void *context);

struct changes_wish {
	bool all_profiles;        /* else the deck's */
	bool looks;               /* look at screens, too (engine/activity.h) */
	const struct strvec *ids; /* only these; NULL: all, also those that are made later.  Borrowed */
};

struct changes;

/* From here on nothing is missed.  wish is copied. */
int changes_open(struct deck *deck, const struct changes_wish *wish, struct changes **ret,
		 struct error *err);
void changes_close(struct changes *changes);
static inline void changes_closep(struct changes **changes)
{
	changes_close(*changes);
}
#define cleanup_changes CLEANUP(changes_closep)

/* Give every session as it was known at the last change (or at the begin) to the handler. */
void changes_each(const struct changes *changes, change_handler handler, void *context);

/* Wait until something is other than it was known, and give that to the handler (NULL: none): once for each session
 * that differs.  CHANGES_TIMEOUT: nothing has changed by deadline_ms of clock_ms(). */
enum { CHANGES_TIMEOUT = 1 };
int changes_wait(struct changes *changes, int64_t deadline_ms, change_handler handler, void *context,
		 struct error *err);

/* What was told last of each session. */
struct changes_memory {
	struct change *items; /* their texts are the memory's own */
	size_t count, size;
};
void changes_memory_free(struct changes_memory *memory);
/* Remember it.  True: it is not what was told last (since_us alone does not count), or nothing was.  A session that was
 * removed is forgotten; without a profile it is the one of this id. */
bool changes_remember(struct changes_memory *memory, const struct change *change);
