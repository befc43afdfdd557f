/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Follow the instances of one profile, or of all: which manifest was written, made or removed, and which
 * agent said something.  inotify(7), no polling; what the kernel could not tell (a queue that ran over) comes as one
 * FOLLOW_ALL, upon which the caller looks at everything.
 *
 * A manifest is replaced by a rename, so one write is one event.  The order is that of the writes.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct follow;

enum follow_what {
	FOLLOW_MANIFEST, /* written, or made; or set aside, or deleted: load it to know */
	FOLLOW_REMOVED,  /* the instance is gone */
	FOLLOW_ACTIVITY, /* its run's activity.json was written: see follow_run() */
	FOLLOW_ALL,      /* look at everything: profile and base are NULL */
};

struct follow_event {
	enum follow_what what;
	const char *profile, *base; /* valid during the call of the handler */
};

/* state: the directory that the profiles are in (struct paths); profile: NULL for all, also those that are made later.
 * What is there already gives no events: open first, then list.
 * ERROR_UNAVAILABLE: the kernel's limits of inotify are used up; the message names the sysctl. */
int follow_open(const char *state, const char *profile, struct follow **ret, struct error *err);
void follow_close(struct follow *follow);
static inline void follow_closep(struct follow **follow)
{
	follow_close(*follow);
}
#define cleanup_follow CLEANUP(follow_closep)

/* Readable when there is something.  Borrowed. */
int follow_descriptor(const struct follow *follow);

/* Give all that is there to the handler, which may call follow_run().  Does not block.  Events that say the same
 * one after the other are given once.
 * It gives what it can also when it fails.  ERROR_NOT_FOUND: the state directory is gone, nothing more will come.  Otherwise
 * something could not be watched (ERROR_UNAVAILABLE as above): said once, and tried again by a later call, 10 s
 * after at the earliest, which then gives FOLLOW_ALL. */
typedef void (*follow_handler)(const struct follow_event *event, void *context);
int follow_read(struct follow *follow, follow_handler handler, void *context, struct error *err);

/* Follow the activity in the run directory of this instance, in the place of an earlier one; NULL: no more.
 * FOLLOW_ABSENT: there is no such directory, or no such instance.  After FOLLOW_REMOVED its run is not followed any
 * more. */
enum { FOLLOW_ABSENT = 1 };
int follow_run(struct follow *follow, const char *profile, const char *base, const char *directory,
	       struct error *err);
