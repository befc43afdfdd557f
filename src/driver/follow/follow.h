/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Follow the instances of one profile, or of all: which manifest was made, written or removed, and
 * which agent reported something. It uses inotify(7), and does not poll. When the kernel has
 * dropped events (its queue was full), the caller gets one FOLLOW_ALL and looks at everything.
 *
 * A manifest is replaced by a rename, so one write is one event. Events come in the order of the
 * writes.
 */
#pragma once

#include "driver/follow/follow-event.h"

#include "base/error.h"

struct follow;

/* state: the directory of the profiles (struct paths). profile: NULL for all, including those that
 * are made later. What exists already gives no events: open first, then list. ERROR_UNAVAILABLE: a
 * limit of inotify is reached; the message names the sysctl. */
int follow_open(const char *state, const char *profile, struct follow **ret, struct error *err);
void follow_close(struct follow *follow);
CLEANUP_OF(follow_closep, struct follow, follow_close);
#define cleanup_follow CLEANUP(follow_closep)

/* Readable when there are events. Borrowed. */
int follow_descriptor(const struct follow *follow);

/* Give all events to the handler, which may call follow_run(). It does not block. Equal events in a
 * row are given once. Even when it fails, it gives the events that it has. ERROR_NOT_FOUND: the
 * state directory is gone, and no more events come. Any other error: we could not watch something
 * (ERROR_UNAVAILABLE as above). This is reported once. A call at least 10 s later tries again, and
 * then gives FOLLOW_ALL. */
typedef void (*follow_handler)(const struct follow_event *event, void *context);
int follow_read(struct follow *follow, follow_handler handler, void *context, struct error *err);

/* Follow the activity in the run directory of this instance, and in no earlier one; NULL: in none.
 * FOLLOW_ABSENT: there is no such directory, or no such instance. FOLLOW_REMOVED also ends this. */
int follow_run(struct follow *follow, const char *profile, const char *base, const char *directory,
	       struct error *err);

/* Give one FOLLOW_OUTPUT when something is printed in this terminal, a device, from now on; NULL:
 * never. What is printed after that gives no event before the next call, so that a program that
 * prints a thousand lines does not wake us a thousand times. FOLLOW_ABSENT as above. */
int follow_terminal(struct follow *follow, const char *profile, const char *base, const char *path,
		    struct error *err);
