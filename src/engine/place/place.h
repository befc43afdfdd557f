/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the processes of a run live, behind one table of functions.
 *
 * Code that must know whether something lives, begin it or end it, asks the table.  No other code
 * looks at sockets, at pids of servers, or at /proc for that.
 *
 * Every place sees our files under our paths, since a container has them mounted where they are
 * here.
 *
 * The window of a run is the tmux server that shows it.  On the host the window is the run: the
 * agent is a process in its pane, and ends with it.  In a container the run continues without it.
 */
#pragma once

#include "base/child.h"
#include "driver/cgroup/cgroup.h"
#include "engine/deck/deck.h"

enum presence {
	PRESENCE_NONE, /* nothing of the run exists */
	PRESENCE_ALIVE,
	PRESENCE_UNKNOWN, /* it may exist, and does not answer: never taken for dead */
};

/* The processes whose end tells of the end of a run, for a caller that waits.  pid 0: none. */
struct place_watch {
	struct process_id server, agent;
	struct process_id window; /* its end ends nothing: open_window() */
};

struct observation {
	enum presence presence;
	const char *why;                /* static: for NONE and UNKNOWN */
	struct process_id server, pane; /* for ALIVE; pane.pid 0 between two rungs */
	unsigned clients;               /* attached terminals */
	bool lacks_window;              /* it is ALIVE, and open_window() is to be called */
};

/* Copy the observed processes into the run, as of this boot. */
void place_take_seen(struct run *run, const struct observation *seen);

enum observe_depth {
	OBSERVE_PROCESS, /* is the server's process there?  Starts no child process */
	OBSERVE_ANSWER,  /* and does it answer? */
};

/* One reading of what a run uses; -1: not counted here. */
struct place_usage {
	/* The usage of its slice.  Without one, or where the kernel does not count by slice: of its
	 * processes, one by one, and -1 for what they do not tell. */
	struct cgroup_usage now;
	bool in_scope;
	int64_t at_ms; /* clock_ms() of this reading */
};

/* When limits that are set on a run take effect, as far as this machine enforces them: at once;
 * with its next start; with its next start in a scope, since it runs without one, or the scope
 * cannot be changed now. */
enum limit_effect { LIMIT_EFFECT_NOW, LIMIT_EFFECT_NEXT_START, LIMIT_EFFECT_NEXT_SCOPE };

/* Why a limit does nothing, for display; NULL: it is not set, it can be enforced, or that is
 * unknown. */
struct limit_gaps {
	char *why[LIMIT_COUNT]; /* owned */
};

/* How something of a run is begun.  All borrowed. */
struct place_order {
	struct store_lock *lock; /* of the instance */
	const struct agent *agent;
	/* A refused scope is an error; do not start without one.  For automatic starts: they can be
	 * made later, and a process started beside a manager that is about to end would end with
	 * it. */
	bool needs_scope;
	/* Leave a paused container paused.  For automatic starts: a user has paused it. */
	bool leaves_paused;
	/* The user consents to build the image of a container again (--rebuild). */
	bool may_rebuild;
	/* Set by a failure for no other reason than that this consent is missing.  NULL: not
	 * wanted. */
	bool *ret_needs_rebuild;
};

/* A command that ends by itself, before the agent is started.  All borrowed. */
struct place_command {
	const struct place_order *order;
	const struct strvec *argv;
	bool is_users; /* else its first word is a placeholder for the agent's program */
	int timeout_ms;
};

/* Outcomes of how_ended(). */
enum { PLACE_NOT_ENDED = 1, PLACE_NOT_BEGUN = 2 };

/* A program on this host that runs a command. */
struct place_exec {
	struct strvec argv;
	/* The path of a file.  The command runs only if it can remove the file first.  If another
	 * process removes it earlier, the command never runs.  NULL: there is no ticket. */
	char *ticket;
	struct fs_lock held; /* on that file: as long as its process lives, no start removes it */
	const char *by;      /* the program that runs it, for messages; borrowed */
};
#define PLACE_NO_EXEC ((struct place_exec){ .held = FS_UNLOCKED })
void place_exec_clear(struct place_exec *exec);
#define cleanup_place_exec CLEANUP(place_exec_clear)

enum place_discard {
	DISCARD_FOR_NOW, /* another start may follow */
	DISCARD_FOR_GOOD,
};
enum { PLACE_HAD_NOTHING = 1 };
enum { PLACE_CHANGED = 1 };

/* Functions without a deck parameter may be called only for runs of this boot and machine.  A
 * listing can afford these: they start no child process, but for silence(). */
struct place {
	const char *name;
	const char *lost; /* why a run ended that no command ended, for people */
	/* The program that takes the agent's reports where it runs; NULL: the deck's. */
	const char *hook_program;

	/* place_home() is how to ask.  No function: there is none. */
	const char *(*home)(const struct instance *instance);

	/* ---- does it live ---------------------------------------------------------------- */

	/* The server, by what is written down of it; place_presence() is how to ask. */
	enum presence (*presence)(const struct place_run *run);
	/* The process in its pane; place_agent_is_live() is how to ask. */
	bool (*agent_is_live)(const struct place_run *run);
	/* Is no process of it left?  place_is_empty() is how to ask. */
	bool (*is_empty)(const struct place_run *run);
	/* Why a run that is there cannot be asked anything, static; NULL: it can be asked.  It is
	 * asked only when it was silent before. */
	const char *(*silence)(const struct place_run *run);
	/* What tells of its end. */
	struct place_watch (*watch)(const struct place_run *run);
	/* place_control_group() is how to ask. */
	char *(*control_group)(const struct place_run *run);
	bool shares_control_group; /* other sessions are in it, too */
	/* The agent has ended, and the news of it may be lost: make the run look. */
	void (*nudge)(const struct place_run *run);

	/* Never fails: reports PRESENCE_UNKNOWN if the run cannot be inspected. */
	struct observation (*observe)(struct deck *deck, const struct instance *instance,
				      enum observe_depth depth);

	/* Has a run that is alive lost its window?  place_lacks_window() is how to ask. */
	bool (*lacks_window)(const struct place_run *run);

	/* ---- begin ----------------------------------------------------------------------- */

	/* Does this PATH have the programs that a start of the instance needs on this host?
	 * ERROR_UNAVAILABLE, ERROR_NOT_FOUND. */
	int (*check_path)(const struct instance *instance, const char *path, struct error *err);

	/* The session's directory is `real` now, which its user calls `named`: write into the
	 * instance that a new run has it.  ERROR_INVALID: none may.  No function: each has it. */
	int (*take_directory)(const struct deck *deck, struct instance *instance, const char *real,
			      const char *named, struct error *err);

	/* Could a run be brought up here?  Asked before something is ended that is to be started
	 * again.  The message says that nothing was ended.  Leaves nothing behind. */
	int (*probe)(struct deck *deck, const struct instance *instance, struct error *err);

	/* Choose the places of a new run (socket, directory, unit) and write its files.  run.id is
	 * set by the caller; the ladder may refer to the files, so it is planned after this. */
	int (*prepare)(struct deck *deck, struct instance *instance,
		       const struct place_order *order, struct error *err);

	/* Run a command where the agent of the prepared run will run, with the same files,
	 * environment and secrets, until it ends.  CHILD_NOT_INSTALLED.  ERROR_TIMEOUT: it was
	 * ended.  *ret: child_result_free(). */
	int (*run_command)(struct deck *deck, struct instance *instance,
			   const struct place_command *command, struct child_result *ret,
			   struct error *err);

	/* Bring the prepared run up and fill in what it became.  The caller has saved the manifest
	 * already, so that the intent is on disk before the first process exists; it is saved here
	 * again when the place must be another than the prepared one.  On an error nothing of the
	 * run is left. */
	int (*launch)(struct deck *deck, struct instance *instance, const struct place_order *order,
		      struct error *err);

	/* Has a start that failed done something that the next one continues from?
	 * place_has_begun() is how to ask.  No function: none has. */
	bool (*has_begun)(const struct instance *instance);

	/* The run is alive and lacks its window: open one.  The caller saves the instance. */
	int (*open_window)(struct deck *deck, struct instance *instance,
			   const struct place_order *order, struct error *err);

	/* ---- end ------------------------------------------------------------------------- */

	/* End every process of the run and remove its files: politely until grace_ms have passed
	 * (0: at once), then by SIGKILL.  Returns only when none is left; ERROR_TIMEOUT names what
	 * is.  A run that is gone already: 0.  *ret_words (NULL: not wanted, and nothing is waited
	 * for): what the agent said when it ended by itself, NULL when that cannot be known; the
	 * caller's, also after an error. */
	int (*end)(struct deck *deck, const struct instance *instance, int grace_ms,
		   char **ret_words, struct error *err);

	/* End whatever still runs here for the instance of this id, of which nothing else is
	 * known. */
	int (*end_unknown)(struct deck *deck, const char *id, struct error *err);

	/* Free what the place keeps between two runs (a container), since the session goes or its
	 * user wants that.  The instance has no run.  The conversation and its home stay.
	 * PLACE_HAD_NOTHING: there was no container of its own.  After an error the instance says
	 * that there may be something. */
	int (*discard)(struct deck *deck, struct instance *instance, enum place_discard how,
		       struct error *err);

	/* Could discard() free all of it once the run has ended?  Nothing is changed.
	 * ERROR_BUSY: another one uses something of it.  No function: it always could. */
	int (*check_discard)(struct deck *deck, struct instance *instance, struct error *err);

	/* Others may live in what the place keeps for the instance.  No function: none does.
	 * ERROR_BUSY names one: that now uses what is to be changed or ended; whose conversation
	 * the removal of the instance would take; or, in the trash, that its deletion would. */
	int (*check_alone)(struct deck *deck, const struct instance *instance, struct error *err);
	int (*check_removal)(struct deck *deck, const struct instance *instance, struct error *err);
	int (*check_deletion)(struct deck *deck, const struct instance *instance,
			      struct error *err);

	/* What still runs of the instance of this id, although no run of it is written down, where
	 * a new run would end it.  For people: "2 processes are still in its scope (the first is
	 * ...)"; NULL: nothing.  *ret is the caller's.  No function: nothing ever does. */
	int (*survivors)(struct deck *deck, const char *id, char **ret, struct error *err);

	/* ---- from the pane --------------------------------------------------------------- */

	/* Begin the attempt that the run names; the caller saves the instance afterwards.  Where
	 * the agent is the pane's process, this process is about to become it.  Elsewhere the
	 * instance is saved before the agent is started as well. */
	int (*begin_attempt)(struct deck *deck, struct store_lock *lock, struct instance *instance,
			     const struct agent *agent, struct error *err);

	/* The argv that the pane's process becomes, appended to *ret: the agent's, or that of a
	 * window on it. */
	void (*pane_argv)(const struct deck *deck, const struct instance *instance,
			  struct strvec *ret);

	/* How the agent of this attempt ended.  *ret is the caller's.  PLACE_NOT_ENDED: it runs,
	 * and only its window was closed.  PLACE_NOT_BEGUN: it was never started.  ERROR_TIMEOUT:
	 * the run does not answer. */
	int (*how_ended)(const struct instance *instance, struct exit_record *ret,
			 struct error *err);

	/* The agent has ended by itself: end the commands that it is known to leave behind
	 * (daemons.end in the registry), and nothing else of the run. */
	void (*end_daemons)(struct deck *deck, const struct instance *instance,
			    const struct agent *agent);

	/* End the run that the caller is the pane of, and remove its files.  Its manifest is
	 * written already, so the run is named by what was in it. */
	int (*leave)(const struct place_run *run, struct error *err);

	/* ---- while it runs --------------------------------------------------------------- */

	/* How to run the command (empty: a shell) beside the agent, in the caller's terminal and
	 * the instance's directory.  *ret: place_exec_clear().  ERROR_INVALID: the run is needed,
	 * and does not live.  ERROR_UNAVAILABLE. */
	int (*exec)(const struct instance *instance, const struct strvec *command,
		    struct place_exec *ret, struct error *err);

	/* The address at which this machine reaches the ports of the run.  *ret is the caller's.
	 * ERROR_INVALID: the run does not live.  ERROR_UNAVAILABLE: this machine does not reach
	 * them. */
	int (*address)(const struct instance *instance, char **ret, struct error *err);

	void (*usage)(const struct place_run *run, struct place_usage *ret);

	/* For each limit, why no run of the instance here can have it; NULL: it can, or that is
	 * unknown.  The caller frees the texts.  No function: every limit is possible. */
	void (*find_gaps)(struct deck *deck, const struct instance *instance,
			  struct limit_gaps *ret);

	/* Could a run of the instance have this limit?  ERROR_USAGE says what to do instead.  No
	 * function: it could have every limit. */
	int (*check_limit)(const struct instance *instance, enum limit limit, struct error *err);

	/* The limits have changed: write into the instance what a new run gets.  The caller saves
	 * it.  No function: each run gets what holds when it begins. */
	void (*keep_limits)(const struct deck *deck, struct instance *instance);

	/* The limit that keep_limits() has written; 0: none. */
	int64_t (*kept_limit)(const struct instance *instance, enum limit limit);

	/* The limits of the instance, on a run that is there; *ret tells when they hold.  What
	 * could not be set is a warning.  PLACE_CHANGED: the caller saves the instance. */
	int (*set_limits)(struct deck *deck, struct instance *instance, const struct limits *limits,
			  enum limit_effect *ret, struct error *err);
};

/* engine/place/host/ and engine/place/container/.  Only the list of places in place.c names them,
 * and the container its window, which is the host's. */
extern const struct place place_host, place_container, place_guest;

/* By instance->backend.  ERROR_NEWER when this program does not know it. */
int place_find(const struct instance *instance, const struct place **ret, struct error *err);
/* The place of a run; NULL: this program does not know it. */
const struct place *place_of(const struct place_run *run);
/* The home that the agent has for itself, under the same path here and there: of its user's files,
 * variables and processes it sees only what it was given.  NULL: it lives as its user does, in the
 * user's home.  Borrowed. */
const char *place_home(const struct instance *instance);
/* A start of the instance failed: would its removal lose what the next start continues from? */
bool place_has_begun(const struct instance *instance);

/* The size of the agent's screen until a terminal attaches: that of its user's last terminal, at
 * least 80x24, without the status line.  200x50 if none is known. */
struct termsize place_screen_size(const struct deck *deck, const struct instance *instance);

/* End whatever still runs in any place for the instance of this id. */
int place_end_unknown(struct deck *deck, const char *id, struct error *err);

/* One more place that is found by its name, for tests.  NULL: none but the usual ones. */
void place_add(const struct place *place);
