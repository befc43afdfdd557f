/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agents that run already, in somebody's terminal or tmux: find them, and take one over.
 *
 * Finding changes nothing.  Taking one over ends its process, so that two never write into one conversation,
 * and that is the user's decision: a find carries where its id comes from, and a doubt where there is one.
 */
#pragma once

#include "driver/tmux-panes.h"
#include "engine/deck.h"

/* Where a find's conversation id comes from. */
enum adopt_source {
	ADOPT_UNKNOWN,    /* there is none */
	ADOPT_ARGUMENTS,  /* its own command line */
	ADOPT_TRANSCRIPT, /* the newest transcript of its directory that nobody owns, written since it started */
	ADOPT_LAST_WORDS, /* not known before it ends: it says it then, and its pane can be read */
};

struct adopt_find {
	struct process_id process;
	const struct agent *agent; /* borrowed from the deck's registry */
	struct strvec argv;
	char *cwd, *config_home;   /* config_home: NULL when the agent has none */
	char *terminal;            /* "/dev/pts/3" */
	char *pane, *socket, *where; /* of the tmux pane it runs in, NULL: in none that we can see */
	char *session_id;          /* NULL: not known, or not yet */
	enum adopt_source source;
	bool is_heard;             /* it says its id when it ends, and we can hear it: that id counts */
	char *owner;               /* id of the session that has this conversation; NULL: none */
	char *doubt;               /* why it is not taken over without being told the id; NULL: no doubt */
};

struct adopt_finds {
	struct adopt_find *finds;
	size_t count;
};

/* Every agent of this user with a terminal that is not in a session of agentdeck, oldest pid first.  Of an agent that
 * started another (a launcher script), the first.  Stand-ins count, generic entries do not. */
int adopt_look(struct deck *deck, struct adopt_finds *ret, struct error *err);
void adopt_finds_free(struct adopt_finds *finds);
#define cleanup_adopt_finds CLEANUP(adopt_finds_free)

/* The find that target means: a pid, a pane's id ("%3", of the server that TMUX names, else of the only one that has
 * it), or a terminal's path.  A pid or a terminal may also be a parent of the agent: the pane's shell.
 * ERROR_NOT_FOUND; ERROR_AMBIGUOUS.  *ret is borrowed from finds. */
int adopt_choose(const struct adopt_finds *finds, const char *target, const struct adopt_find **ret,
		 struct error *err);

/* How to take one over. */
struct adopt_wish {
	const char *title, *group; /* NULL: as lifecycle_add() has it */
	const char *session_id;    /* instead of the find's; NULL */
	bool fresh;                /* no conversation is known, and that is fine */
};

/* Would adopt_take() begin?  Asks nobody and ends nothing.
 * ERROR_INVALID: there is a doubt, or no id, and the wish does not settle it; or we run below that very process.
 * ERROR_EXISTS: a session has the conversation.  ERROR_NOT_FOUND: it has ended.  ERROR_UNAVAILABLE: its program could not
 * be started again. */
int adopt_check(const struct adopt_find *find, const struct adopt_wish *wish, struct error *err);

/* Make a stopped instance of it, then end the process and what it started.  In this order, so that the conversation is
 * on disk before anything is ended; when the process cannot be ended the instance is taken away again.  The caller
 * starts it.  One whose id is known is asked to end and killed after [stop] timeout; one that is to say its id is only
 * asked: it is left running (ERROR_TIMEOUT) when it does not end then.
 * Of the process' environment only the agent's home ([home] variable) is kept, which is no secret; a program that
 * is not in our PATH is taken from the process' own.
 * ADOPT_UNNAMED: it has ended without saying an id, as many do that had no turn: the instance is there, without one.
 * Errors as adopt_check(); ERROR_EXISTS also for an id that was said in the end.  *ret is the caller's. */
enum { ADOPT_UNNAMED = 1 };
int adopt_take(struct deck *deck, const struct adopt_find *find, const struct adopt_wish *wish,
	       struct instance **ret, struct error *err);

/* "arguments", "transcript", "last_words", "unknown"; static. */
const char *adopt_source_name(enum adopt_source source);
