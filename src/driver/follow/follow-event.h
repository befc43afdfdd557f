/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What follow.h reports.
 */
#pragma once

enum follow_what {
	FOLLOW_MANIFEST, /* made, written, set aside or deleted: load it to know */
	FOLLOW_REMOVED,  /* the instance is gone */
	FOLLOW_ACTIVITY, /* the activity.json of its run was written: follow_run() */
	FOLLOW_OUTPUT,   /* something was printed in its terminal: follow_terminal() */
	FOLLOW_ALL,      /* look at everything: profile and base are NULL */
};

struct follow_event {
	enum follow_what what;
	const char *profile, *base; /* valid during the call of the handler */
};

/* A directory is gone, or not ours. */
enum { FOLLOW_ABSENT = 1 };
