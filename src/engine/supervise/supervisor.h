/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of the supervisor share: its loop, its roster, and the commands that it starts.
 */
#pragma once

#include "base/loop.h"
#include "base/runner.h"
#include "driver/systemd/service.h"
#include "engine/roster/roster.h"
#include "engine/supervise/screens.h"

#include <sys/resource.h>

/* How its loop ends when the state directory is gone, beside the outcomes of supervise.h. */
enum { SUPERVISE_LOST = 2 };

struct supervisor {
	struct deck *deck;
	struct loop *loop;
	struct roster *roster;   /* the owner of each entry is its struct session */
	struct service *service; /* NULL: no bus */
	struct service_operations operations;
	struct screens screens;     /* who looks at what the agents show */
	size_t working;             /* revive commands that run now */
	struct loop_source *retry;  /* to read of the roster what could not be read */
	unsigned retries;           /* without success, one after the other */
	struct loop_source *reopen; /* to try the bus once more */
	int64_t answers_ms;         /* since when the process that follows the answers runs */
	int64_t answers_pause_ms;   /* before it starts again */
	int64_t ends_us;            /* since the Epoch: an engine ends this host; 0: not known */
	int config;                 /* inotify(7) of a config.toml that cannot be used; -1: none */
	struct rlimit usual_files;  /* RLIMIT_NOFILE of what is started */
};

enum session_next {
	NEXT_NOTHING, /* but what its timer has planned */
	NEXT_RESTART, /* as soon as there is room */
	NEXT_LEFT,    /* nothing until its manifest changes */
};

enum session_work {
	WORK_NONE,
	WORK_REVIVE, /* a command is at work on it */
	WORK_LOOK,   /* the command's result is being taken */
};

/* What is tried with a session whose agent is idle. */
enum idle_what { IDLE_SLEEP, IDLE_SAY, IDLE_COUNT };

/* What is to be done with one session. */
struct session {
	struct supervisor *supervisor;
	struct roster_entry *entry; /* NULL: it was removed while a restart of it ran */
	struct strvec environment;  /* of its server: what the next run is started with */
	struct process_id environment_of;
	struct loop_source *timer; /* when to decide again */
	struct idle_try {
		struct loop_source *timer; /* when to try it */
		int64_t tried_ms; /* of clock_ms(): the last time; 0: not since its last turn */
	} tries[IDLE_COUNT];      /* while its agent is idle */
	enum idle_what trying;    /* what its command tries */
	enum session_next next;
	enum session_work work;
	unsigned failures;     /* commands that failed, one after the other */
	unsigned unread;       /* times that its manifest could not be read, likewise */
	int64_t not_before_ms; /* of clock_ms(): the next try */
};

/* Hear what the roster has to tell; context is the supervisor. */
void supervisor_read(void *context);

/* Run agentdeck itself with these arguments, in this environment (NULL: ours).  timeout_ms 0:
 * however long it takes. */
void supervisor_start(struct supervisor *supervisor, const struct strvec *arguments,
		      const struct strvec *environment, int timeout_ms, runner_handler handler,
		      void *context);
