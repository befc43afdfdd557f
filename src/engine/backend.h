/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a run lives, behind one table of functions.  Today there is "host": a tmux server in a scope;
 * "docker" will be another.
 */
#pragma once

#include "engine/deck.h"

enum presence {
	PRESENCE_NONE,    /* nothing of the run is there */
	PRESENCE_ALIVE,
	PRESENCE_UNKNOWN, /* it exists and does not answer: never taken for dead */
};

struct observation {
	enum presence presence;
	const char *why;         /* static: for NONE and UNKNOWN */
	struct process_id server, pane; /* for ALIVE; pane.pid 0 between two rungs */
	unsigned clients;        /* attached terminals */
};

enum observe_depth {
	OBSERVE_PROCESS, /* is the server's process there? No child process, for listings */
	OBSERVE_ANSWER,  /* and does it answer? */
};

struct backend {
	const char *name;

	/* Look.  Failing to look is PRESENCE_UNKNOWN, so this does not fail. */
	struct observation (*observe)(struct deck *deck, const struct instance *instance,
				      enum observe_depth depth);

	/* Choose the places of a new run (socket, directory, unit) and write its files.  run.id is set
	 * by the caller; the ladder may refer to the files, so it is planned after this. */
	int (*prepare)(struct deck *deck, struct instance *instance, const struct agent *agent,
		       struct error *err);

	/* Bring the prepared run up and fill in what it became.  The caller has saved the manifest already,
	 * so that the intent is on disk before the first process exists; it is saved here again when the
	 * place must be another than the prepared one.  On an error nothing of the run is left. */
	int (*launch)(struct deck *deck, struct store_lock *lock, struct instance *instance,
		      const struct agent *agent, struct error *err);

	/* End every process of the run and remove its files: politely until grace_ms have passed (0: at
	 * once), then by SIGKILL.  Returns only when none is left; ERROR_TIMEOUT names what is.
	 * A run that is gone already: 0.  *ret_words (NULL: not wanted, and nothing is waited for): what the agent
	 * said when it ended by itself, NULL when that cannot be known; the caller's, also after an error. */
	int (*end)(struct deck *deck, const struct instance *instance, int grace_ms,
		   char **ret_words, struct error *err);
};

extern const struct backend backend_host;

/* End whatever still runs for the instance of this id, of which nothing else is known. */
int backend_host_end_unknown(struct deck *deck, const char *id, struct error *err);

/* The agent has ended by itself: end the commands that it is known to leave behind (daemons.end in the registry), and
 * nothing else of the run. */
void backend_host_end_daemons(struct deck *deck, const struct instance *instance,
			      const struct agent *agent);

/* By instance->backend.  ERROR_NEWER when this program does not know it. */
int backend_find(const struct instance *instance, const struct backend **ret, struct error *err);
