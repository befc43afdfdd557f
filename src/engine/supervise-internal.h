/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parts of the supervisor among themselves:
 *
 *   supervise.c          begin and end; who is called for what
 *   supervise-session.c  one session: what is known, and what is to be done
 *   supervise-watch.c    one session: what wakes us for it
 *   supervise-work.c     commands that run beside it, and who waits for them
 *   supervise-calls.c    what others ask over the bus, and what they are told
 */
#pragma once

#include "base/child.h"
#include "driver/follow.h"
#include "driver/loop.h"
#include "driver/service.h"
#include "engine/supervise.h"

#include <sys/resource.h>

struct supervisor {
	struct deck *deck;
	struct loop *loop;
	struct follow *follow;
	struct service *service; /* NULL: no bus */
	struct service_operations operations;
	struct session **sessions; /* sorted by key */
	size_t count, capacity;
	struct store **stores;     /* of each profile that was seen */
	size_t store_count;
	size_t working;            /* revive commands that run now */
	struct loop_source *retry; /* to follow again what could not be followed */
	struct loop_source *relook; /* at what could not be listed */
	unsigned relooks;          /* without success, one after the other */
	struct loop_source *reopen; /* to try the bus once more */
	struct rlimit usual_files; /* RLIMIT_NOFILE of what is started */
};

/* What is known of one session, and the sources that tell when that changes. */
struct session {
	struct supervisor *supervisor;
	char *key;                 /* "<profile>/<base>" */
	char *profile, *base, *id, *title, *group, *agent, *directory, *session_id, *reason, *held;
	enum instance_state state;
	enum instance_desired desired;
	enum instance_activity activity;
	int64_t since, activity_since, last_used_at;

	bool is_live;              /* its tmux server is there */
	struct process_id server, pane;
	char *run_directory;
	struct strvec environment; /* of the server: what the next run is started with */
	struct loop_source *server_end, *pane_end, *oom_io;
	int oom_fd;
	int64_t oom_kills;         /* so far, in this run */
	char *control_group;

	struct loop_source *timer; /* when to look again, or to bring it back */
	bool is_queued;            /* to be brought back as soon as there is room */
	bool is_working;           /* a command is at work on it */
	bool is_left;              /* nothing to do until its manifest changes */
	unsigned failures;         /* commands that failed, one after the other */
	unsigned unread;           /* times that its manifest could not be read, one after the other */
	bool is_unwatched;         /* it is live, and an end of it would not be heard */
	int64_t not_before_ms;     /* of clock_ms(): the next try */
	unsigned nudges;           /* since its agent ended; see watch_nudge() */
	bool is_gone;              /* removed while a command was at work on it */
	char *shown;               /* what was last told about it */
};

/* The store of a profile, opened once; NULL (and a line in the log): it cannot be opened.  Borrowed. */
struct store *supervise_store(struct supervisor *supervisor, const char *profile);

/* ---- supervise-session.c ---------------------------------------------------------------------- */

/* The session of this profile and base; made when make is true, else NULL.  Borrowed. */
struct session *session_find(struct supervisor *supervisor, const char *profile, const char *base,
			     bool make);
/* By id or exact title; NULL when there is none, or several.  Borrowed. */
struct session *session_by_target(struct supervisor *supervisor, const char *target);
/* Read its manifest, watch what is there, and do what is to be done.  False: it is not there any more, and session
 * is freed, or will be when its command has ended. */
bool session_look(struct session *session);
void session_note_activity(struct session *session);
/* What it is now, for the bus.  Texts are borrowed from the session. */
void session_describe(const struct session *session, struct service_session *ret);
/* It is gone. */
void session_forget(struct session *session);
void session_free(struct session *session);

/* Begin with those that wait for room. */
void session_run_queue(struct supervisor *supervisor);

/* What its timer was set for is due. */
void session_on_timer(struct session *session);

/* ---- supervise-watch.c ------------------------------------------------------------------------ */

/* Is the tmux server of this run there? */
bool watch_is_live(const struct run *run);
/* Have the loop tell of whatever happens to the run that stands in the manifest; of nothing when it is over. */
void watch_run(struct session *session, const struct instance *instance);
void watch_end(struct session *session);
/* Has its agent ended, and nobody said yet what comes of that?  The manifest does not name the process that is to say so, and
 * tmux before 3.5 can miss the end of either (see agentdeck-watch). */
bool watch_is_between(const struct session *session);
/* Make tmux look, and set the timer; each time it is a later one, 51 s at the most.  More than one is seldom needed. */
void watch_nudge(struct session *session);
void watch_nudge_later(struct session *session);
/* There is one timer: it is set anew. */
void watch_set_timer(struct session *session, int64_t delay_ms);
void watch_clear_timer(struct session *session);

/* ---- supervise-work.c ------------------------------------------------------------------------- */

/* result is NULL when the command could not be run, or did not end in time: failure tells.  Not called when the supervisor
 * ends before. */
typedef void (*work_handler)(const struct child_result *result, const char *failure, void *context);

/* Run agentdeck itself with these arguments, in this environment (NULL: ours).  timeout_ms 0: however long it takes. */
void work_start(struct supervisor *supervisor, const struct strvec *arguments,
		const struct strvec *environment, int timeout_ms, work_handler handler, void *context);

/* Take notice of the end of what ran when we began anew.  Nobody waits for what it says.  Before the first work_start(). */
void work_inherit(struct supervisor *supervisor);

/* ---- supervise-calls.c ------------------------------------------------------------------------ */

void calls_open(struct supervisor *supervisor);
/* Tell the bus, and the user's command for such occasions. */
void calls_session_changed(struct session *session);
void calls_session_removed(struct session *session);
/* occasion: as in [notify] on. */
void calls_notify(struct session *session, const char *occasion, const char *message);
