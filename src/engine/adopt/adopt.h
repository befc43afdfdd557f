/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agents that already run in a terminal or tmux of the user's: find them, and adopt one.
 *
 * Finding changes nothing.  Adopting ends the agent's process, so that no two processes write into
 * one conversation.  The user decides about that; so a find says where its id comes from, and which
 * doubt there is.
 */
#pragma once

#include "driver/tmux/tmux-panes.h"
#include "engine/deck/deck.h"

/* Where a find's conversation id comes from. */
enum adopt_source {
	ADOPT_UNKNOWN,   /* there is no id */
	ADOPT_ARGUMENTS, /* its own command line */
	/* the newest transcript in its directory without an owner, written since it started */
	ADOPT_TRANSCRIPT,
	/* the session that a take-over made of it, which was killed before it ended the process */
	ADOPT_SESSION,
	ADOPT_LAST_WORDS, /* not known yet: it says it when it ends, and we can read its pane */
};

enum { ADOPT_LAUNCHED_MAX = TAKEN_MAX - 1 };

struct adopt_find {
	struct process_id process;
	/* of a launcher: the agents that it launched */
	struct process_id launched[ADOPT_LAUNCHED_MAX];
	size_t launched_count;
	const struct agent *agent; /* borrowed from the deck's registry */
	struct strvec argv;
	char *cwd, *config_home; /* config_home: NULL when the agent has none */
	char *terminal;          /* "/dev/pts/3" */
	/* of its tmux pane; NULL: in no pane that we can see */
	char *pane, *socket, *where;
	char *session_id; /* NULL: not known, or not yet */
	enum adopt_source source;
	/* it says its id when it ends, and we can read it: that id counts */
	bool is_heard;
	/* the session that has this conversation: its id, its title, and where it is; NULL: none */
	char *owner, *owner_title, *owner_base, *owner_profile;
	bool can_join; /* it is stopped, so that the process can be taken over into it */
	/* a transcript of its directory without an owner was written since it started */
	bool has_transcript;
	pid_t rival;   /* another process with the same conversation; 0: none */
	char *foreign; /* the id of the session of agent-deck's that it is in; NULL: none */
	/* why we need the id from the user to adopt it; NULL: no doubt */
	char *doubt;
};

struct adopt_finds {
	struct adopt_find *finds;
	size_t count;
};

/* List every agent of this user that has a terminal and is not in a session of agentdeck, oldest
 * pid first.  Of an agent that started another (a launcher script), only the first.  Includes
 * stand-ins, but not generic entries. */
int adopt_look(struct deck *deck, struct adopt_finds *ret, struct error *err);
void adopt_finds_free(struct adopt_finds *finds);
#define cleanup_adopt_finds CLEANUP(adopt_finds_free)

/* Find the one that target names: a pid, a pane's id ("%3", of the server that TMUX names, else of
 * the only one that has it), or a terminal's path.  A pid or a terminal may also be that of a
 * parent of the agent: the pane's shell.  A pid may be that of an agent that the find launched.
 * ERROR_NOT_FOUND; ERROR_AMBIGUOUS.  *ret is borrowed from finds. */
int adopt_choose(const struct adopt_finds *finds, const char *target, const struct adopt_find **ret,
		 struct error *err);

/* The find of this very process, or of the launcher of it, if that can be taken over into this
 * stopped instance, which has its conversation.  NULL: it cannot.  Borrowed from finds. */
const struct adopt_find *adopt_joining(const struct adopt_finds *finds,
				       const struct process_id *process,
				       const struct instance *instance);

/* What a process is, for people, whether it can be adopted or not.  NULL and 0: not known, as all
 * is of one that has ended. */
struct adopt_facts {
	char *command, *directory;
	char *terminal;   /* "/dev/pts/3" */
	int64_t since_us; /* that it runs; since the Epoch */
};
void adopt_describe(const struct process_id *process, struct adopt_facts *ret);
void adopt_facts_clear(struct adopt_facts *facts);
#define cleanup_adopt_facts CLEANUP(adopt_facts_clear)

/* What an instance remembers of it until it is ended.  session_id: the conversation; NULL. */
void adopt_remember(const struct adopt_find *find, const char *session_id, struct taken *ret);

/* How to adopt it. */
struct adopt_order {
	const char *title, *group; /* NULL: the default of lifecycle_add() */
	const char *session_id;    /* instead of the find's; NULL */
	bool fresh;                /* accept that no conversation is known */
};

/* Check whether adopt_take() would begin.  Contacts and ends nothing.  ERROR_INVALID: there is a
 * doubt, or no id, and the order does not settle it; another process has its conversation; or we
 * run below that very process.
 * ERROR_EXISTS: a session has the conversation, and runs, or the order is for a new session.
 * ERROR_NOT_FOUND: it has ended. ERROR_UNAVAILABLE: its program could not be started again. */
int adopt_check(const struct adopt_find *find, const struct adopt_order *order, struct error *err);

/* Make a stopped instance of it, then end the process and the processes it started.  In this order,
 * so that the conversation is on disk before anything ends; when the process cannot be ended the
 * instance is removed again.  When the process has ended and something else failed, the instance
 * stays, stopped, and the error says so.  The caller starts the instance.  After a kill in between
 * the instance exists, and does not resume the conversation while the process lives (struct taken).
 * When a script launched the agent, this holds for both processes.
 *
 * With find->can_join it is the stopped instance that has the conversation, in its own profile,
 * which may not be the deck's; it always stays.  Then an agent that says another id at its end is
 * ERROR_EXISTS: it has ended, and the message says how to continue that conversation.
 *
 * An agent whose id is known is asked to exit, and killed after [stop] timeout.  One that must say
 * its id is only asked: if it does not exit, it keeps running (ERROR_TIMEOUT).  Of the process'
 * environment only the agent's home ([home] variable, else below its HOME), which is not a secret,
 * is kept.  A program that is not in our PATH is taken from the process' own.
 *
 * ADOPT_UNNAMED: it ended without saying an id, as many do that had no turn; the instance exists,
 * without an id.  Errors as adopt_check(); ERROR_EXISTS also for an id that it said at its end.
 * *ret is the caller's. */
enum { ADOPT_UNNAMED = 1 };
int adopt_take(struct deck *deck, const struct adopt_find *find, const struct adopt_order *order,
	       struct instance **ret, struct error *err);

/* The second half of it: end the process, for this stopped instance of the deck's profile.  Nothing
 * is ended if it could not be started.  listens: an id that the agent says becomes the instance's.
 * ADOPT_UNNAMED, and errors as above; the instance stays. */
int adopt_end(struct deck *deck, const struct adopt_find *find, bool listens,
	      struct instance *instance, struct error *err);

/* After adopt_end() has failed for an instance that was made for it: remove the instance if the
 * process still lives, else say in *err, which is set, that the instance stays.  Returns -1. */
int adopt_give_up(struct deck *deck, const struct adopt_find *find, const struct instance *instance,
		  struct error *err);

/* "arguments", "transcript", "session", "last_words", "unknown"; static. */
const char *adopt_source_name(enum adopt_source source);
