/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * activity.json in a run's directory: two records in one file.
 *
 * The first is the activity, for programs that watch a session.  The second is what the agent's
 * reports have announced in this run, for the reports and messages that follow.  One report changes
 * both with one atomic write, so that a hook that is killed leaves both as they were; and a run
 * that an older version has started continues, since all versions read the same file.
 *
 * directory is the run's everywhere here.
 */
#pragma once

#include "base/fsutil.h"
#include "model/session/instance.h"

/* The failure of a turn that a usage limit has ended. */
#define FAILURE_LIMIT "usage_limit"

/* What the agent is doing. */
struct activity {
	enum instance_activity activity;
	int64_t since; /* µs since the Epoch, 0: unknown */
	/* is_seen: what was reported last */
	enum instance_activity reported;
	bool asks;             /* waiting: for the answer to a question, and not only for words */
	bool is_seen;          /* read from the screen (engine/screen/activity.h), not reported */
	bool is_suspended;     /* is_seen: its user has suspended it (Ctrl-Z) */
	char *event;           /* name of the event that was reported last, or NULL */
	bool has_tasks;        /* it is done, and waits for others in the background */
	int64_t queued;        /* prompts reported during a turn, which begin after it */
	char *failure;         /* the last turn ended with this error, or NULL */
	int64_t limited_until; /* FAILURE_LIMIT: when that ends, µs since the Epoch; 0: unknown */
	/* The end of the limit after which it was told to continue last; it survives turns. */
	int64_t continued_after;
};
void activity_free(struct activity *activity);
#define cleanup_activity CLEANUP(activity_free)

/* What the agent has announced in this run. */
struct announced {
	int64_t prompts; /* how many prompts it has reported */
	char *directory; /* where its last report came from, or NULL */
	/* the conversation that it last said it begins or continues, or NULL */
	char *session_id;
};
void announced_free(struct announced *announced);
#define cleanup_announced CLEANUP(announced_free)

/* What cannot be read is unknown, and nothing announced. */
void activity_read(const char *directory, struct activity *ret);
void announced_read(const char *directory, struct announced *ret);

/* Is it to be told to continue when its limit is over?  Once for each limit: an agent that is told
 * too early names the same time again. */
bool activity_may_continue(const struct activity *activity);

/* Note that the last turn has failed with failure; NULL: it has not failed. */
void activity_fail(struct activity *activity, const char *failure, int64_t limited_until);

/* Held from reading to writing, so that two writers lose no count.  FS_LOCK_BUSY: a process holds
 * it for more than a second. */
int activityfile_lock(const char *directory, struct fs_lock *ret, struct error *err);
int activityfile_write(const char *directory, const struct activity *activity,
		       const struct announced *announced, struct error *err);
