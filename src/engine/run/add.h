/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Make sessions.
 */
#pragma once

#include "engine/place/container/resolve.h"

struct tree_order; /* engine/workspace/tree.h */

struct lifecycle_new {
	const char *title;              /* NULL: the directory's base name, made unique */
	const char *group;              /* NULL: "" */
	const char *id;                 /* of naming_new_id(); NULL: another one */
	const char *directory;          /* made absolute and real; must exist */
	const char *agent;              /* NULL: from argv, else the settings' default */
	const struct strvec *argv;      /* the user's command; empty: the agent's own.  Borrowed */
	const struct strvec *arguments; /* appended to it.  Borrowed */
	const char *session_id;         /* an existing conversation to take over, or NULL */
	const char *forked_from;      /* id of the conversation to begin with a copy of, or NULL */
	const char *launch_directory; /* that the agent is started in; NULL: the session's */
	bool gives_no_id;             /* the agent will say the id, though it takes one otherwise */
	const char *config_home; /* the agent's home; NULL: what this caller's environment says */
	const char *resume;      /* policy's name, or NULL */
	const char *restart;     /* policy's name, or NULL */
	enum end_policy end_policy;
	const char *sleep_after; /* as that of an instance, or NULL */
	struct limits limits;
	/* NULL: it lives on this host, unless `like` is set.  Borrowed */
	const struct container_order *container;
	/* A session with a container, whose recipe it has; the conversation to begin with is in the
	 * home of that one.  NULL: none.  Borrowed */
	const struct instance *like;
	/* The session in whose container it is to live, in the directory of that one; container has
	 * its login, secrets and program.  NULL: none.  Borrowed */
	const struct instance *within;
	const struct tree_order *tree; /* NULL: it works in the directory itself.  Borrowed */
	const char *notes;             /* the user's own words about it, or NULL */
	const char *tags;              /* as in struct instance, as the next two */
	bool is_pinned;
	int64_t archived_at;
	const char *imported_from; /* as in struct instance */
	const char *once;          /* the same */
	const char *launched_by;   /* the same */
	const struct move *move;   /* that it arrives with; NULL: none.  Borrowed */
	/* the agent that has its conversation until it is ended; or NULL.  Borrowed */
	const struct taken *taken;
	int64_t created_at, last_used_at; /* µs since the Epoch; 0: now, and never */
};

/* The agent that such an instance would have.  Borrowed from the deck. */
int lifecycle_choose_agent(struct deck *deck, const struct lifecycle_new *wish,
			   const struct agent **ret, struct error *err);

/* The command line that such an instance of this agent would have, appended to *ret.  ERROR_USAGE:
 * it is empty. */
int lifecycle_build_argv(const struct lifecycle_new *wish, const struct agent *agent,
			 struct strvec *ret, struct error *err);

/* Make an instance, and its tree if it is to have one; nothing is started.  *ret is the caller's.
 * ERROR_EXISTS: the title is taken, or another session has its id or its conversation.  An instance
 * whose tree cannot be made is withdrawn. */
int lifecycle_add(struct deck *deck, const struct lifecycle_new *wish, struct instance **ret,
		  struct error *err);

/* Whether lifecycle_add() would take this wish, as far as that can be said without a lock: the
 * title and the conversation may be another session's. */
int lifecycle_check_new(struct deck *deck, const struct lifecycle_new *wish, struct error *err);

/* Like lifecycle_check_new(), but checks only the directory and the arguments. */
int lifecycle_check_words(const struct lifecycle_new *wish, struct error *err);

/* Make all of these instances, or none: after a failure those that were made are removed, and the
 * deck warns of one that cannot be.  Killed half-way, the first of them exist.  Each wish has a
 * title, and neither a container nor a tree.  ret: as many instances, the caller's. */
int lifecycle_add_many(struct deck *deck, const struct lifecycle_new *wishes, size_t count,
		       struct instance **ret, struct error *err);
