/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Create, start, stop, restart, remove: the order of the steps, and what holds when one of them is
 * the last that happened.  docs/architecture.md tells the same as a story.
 *
 * Every function here takes the instance's lock for itself, looks at what is there now instead of
 * trusting what was stored, and writes what it is about to do before it does it.
 */
#pragma once

#include "engine/conversation/location.h"
#include "engine/deck/transition.h"
#include "engine/place/container/resolve.h"
#include "engine/place/place.h"
#include "engine/workspace/branch.h"

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
	struct limits limits;
	const struct container_order *container; /* NULL: it lives on this host.  Borrowed */
	/* A session with a container, whose recipe it has; the conversation to begin with is in the
	 * home of that one.  NULL: none.  Borrowed */
	const struct instance *like;
	const struct tree_order *tree; /* NULL: it works in the directory itself.  Borrowed */
	const char *notes;             /* the user's own words about it, or NULL */
	const char *imported_from;     /* as in struct instance */
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
 * ERROR_EXISTS: the title is taken. */
int lifecycle_add(struct deck *deck, const struct lifecycle_new *wish, struct instance **ret,
		  struct error *err);

/* Whether lifecycle_add() would take this wish, as far as that can be said without a lock: the
 * title and the conversation may be another session's. */
int lifecycle_check_new(struct deck *deck, const struct lifecycle_new *wish, struct error *err);

/* As lifecycle_check_new(), but checks only the directory and the arguments. */
int lifecycle_check_words(const struct lifecycle_new *wish, struct error *err);

/* Make all of these instances, or none: after a failure those that were made are removed, and the
 * deck warns of one that cannot be.  Killed half-way, the first of them exist.  Each wish has a
 * title, and neither a container nor a tree.  ret: as many instances, the caller's. */
int lifecycle_add_many(struct deck *deck, const struct lifecycle_new *wishes, size_t count,
		       struct instance **ret, struct error *err);

/* What a start does with a run that exists. */
enum start_kind {
	START_UNLESS_RUNNING, /* leave it alone */
	START_AFTER_STOP,     /* end it first, under the same lock: a restart */
};

enum start_wish {
	START_RESUME,
	START_FRESH, /* without the old conversation */
	START_AGAIN, /* as START_RESUME, but does not update last_used_at */
};

struct lifecycle_order {
	enum start_kind kind;
	enum start_wish wish;
	/* The user says that the machine of its run is gone (--take-over). */
	bool takes_over;
	/* The user wants no setup of its tree (--no-setup). */
	bool leaves_setup;
	/* As in struct place_order. */
	bool needs_scope, leaves_paused, may_rebuild;
	bool *ret_needs_rebuild;
};

enum lifecycle_outcome {
	OUTCOME_REPORTED, /* the agent has reported its start */
	OUTCOME_ALIVE,    /* it lives, and cannot report or has not yet reported */
	OUTCOME_SHELL,    /* the agent does not start: a shell runs in its place */
	OUTCOME_OFFERED,  /* the pane asks whether to resume (policy "confirm") */
	OUTCOME_ENDED,    /* it is over already: see observed */
};

struct lifecycle_started {
	bool already;                   /* it was running: nothing was done */
	enum lifecycle_outcome outcome; /* OUTCOME_ALIVE until lifecycle_wait() */
	/* the agent itself has shown that it is up: by its report, or by its screen */
	bool verified;
	char *unreported;          /* unreported_why(), after a wait; or NULL */
	struct instance *instance; /* the latest state; the caller's */
};
void lifecycle_started_free(struct lifecycle_started *started);
#define cleanup_lifecycle_started CLEANUP(lifecycle_started_free)

/* Bring the instance up by its ladder.  Returns when the run exists and is durable;
 * lifecycle_wait() finds out whether the agent stays.
 * ERROR_INVALID: the run belongs to another machine, and takes_over is not set; stop and removal
 * refuse in the same way.  ERROR_EXISTS: another live instance has this conversation.
 * ERROR_TIMEOUT: something exists that does not answer; it is not started a second time.
 * ERROR_UNAVAILABLE: a program is missing. */
int lifecycle_start(struct deck *deck, const char *base, const struct lifecycle_order *order,
		    struct lifecycle_started *ret, struct error *err);

/* A run in a container goes on without its window: open another one, as lifecycle_start() does.
 * Nothing is done to a session that has its window, or does not live. */
int lifecycle_show(struct deck *deck, const char *base, struct error *err);

/* Told once when a wait takes longer than a second: what it still waits for is the agent's report,
 * for at most this many seconds. */
struct lifecycle_listener {
	void (*waits)(void *context, const struct instance *instance, int64_t most_s);
	void *context;
};

/* Wait until the outcome of a start is known: for a report if the agent can report, else 1 s for an
 * early death, and then look at the screen once.  Sets started->outcome and started->verified, and
 * replaces started->instance.  Without waiting for anything when it was already running.  listener
 * may be NULL. */
int lifecycle_wait(struct deck *deck, struct lifecycle_started *started,
		   const struct lifecycle_listener *listener, struct error *err);

/* The run that a user was shown, as its manifest names it; zero for what that does not name. */
struct lifecycle_seen {
	struct process_id server, pane;
};
struct stop_order {
	const struct lifecycle_seen *seen; /* only that run; NULL: whatever runs.  Borrowed */
	bool takes_over;                   /* as in struct lifecycle_order */
};
/* End the run and every process of it.  *ret_was_running tells whether there was one.
 * ERROR_INVALID: by now another run is there than the one that was seen, and it still runs. */
int lifecycle_stop(struct deck *deck, const char *base, const struct stop_order *order,
		   bool *ret_was_running, struct error *err);

enum removal {
	REMOVE_ANYWAY, /* stop it first */
	/* refuse one that runs, or may run, or whose agent runs in its background: ERROR_INVALID */
	REMOVE_STOPPED,
	REMOVE_DAMAGED, /* its manifest cannot be read, so that there is nothing to stop */
	REMOVE_UNUSED,  /* as REMOVE_ANYWAY, but for good: it was made just now */
};

struct removal_order {
	enum removal how;
	bool takes_over; /* as in struct lifecycle_order */
	/* The user gives up what only the tree of the session has (--discard). */
	bool may_lose_work;
	/* But only what the user was shown, by verdict_digest().  NULL: whatever there is. */
	const char *work_seen;
	/* Fail if its container cannot be freed; else that is left to prune. */
	bool must_free;
	/* Those that lifecycle_purge() deletes with the tree. */
	enum branches_wish branches;
};

/* Move the instance to the trash (engine/run/undo.h).  The agent's own transcripts are the user's
 * and stay. */
int lifecycle_remove(struct deck *deck, const char *base, const struct removal_order *order,
		     struct error *err);

/* As REMOVE_UNUSED. */
int lifecycle_withdraw(struct deck *deck, const char *base, struct error *err);

/* Remove the instance and delete everything that it has, at once and without undo; conversations
 * that its agent keeps elsewhere stay.  REMOVE_STOPPED or REMOVE_ANYWAY.  Refused while an engine
 * has something of it that cannot be removed, or does not answer, and while its tree has what is
 * nowhere else (may_lose_work), or something that is not agentdeck's is in its directory; then
 * nothing has changed, and it still runs.  Killed half-way, it is in the trash: prune goes on. */
int lifecycle_purge(struct deck *deck, const char *base, const struct removal_order *order,
		    struct error *err);

/* Free what the session's place keeps for the next start (a container and its network); the
 * conversation, its home and the directory stay.  REMOVE_STOPPED or REMOVE_ANYWAY.
 * PLACE_HAD_NOTHING: there was no container.  ERROR_INVALID: it runs on this host. */
int lifecycle_eject(struct deck *deck, const char *base, enum removal how, struct error *err);

/* Note that its user works in it now (last_used_at).  Never waits: does nothing if the lock is
 * taken. */
void lifecycle_note_use(struct deck *deck, const char *base);

/* What is said of a fork.  All borrowed. */
struct lifecycle_branch {
	const char *title; /* NULL: "<title>-fork", made unique */
	const char *group; /* NULL: the same */
	/* The container of the fork of a session on this host; NULL: it lives where this one does.
	 */
	const struct container_order *container;
	bool on_host; /* it must live on this host: refused for a session in a container */
	/* NULL: it has a tree to itself if this one has, and of the same kind */
	const struct tree_order *tree;
};

/* Make a stopped instance whose first start begins with a copy of this one's conversation; this one
 * is left as it is, whether it runs or not.  In a container the fork has its own container of the
 * same recipe, and its own home with a copy of the transcript.  A tree to itself begins at the
 * commit of this one's directory, and the conversation comes along.  ERROR_INVALID: the agent
 * cannot, or there is no conversation with a turn in it.  *ret is the caller's. */
int lifecycle_fork(struct deck *deck, const char *base, const struct lifecycle_branch *branch,
		   struct instance **ret, struct error *err);

/* A change of one field of a session by its user. */
struct setting {
	const char *value;       /* borrowed */
	bool copies_transcript;  /* of a path: to where the agent looks for it */
	bool drops_conversation; /* of an agent: its id goes to the earlier ones, and a new one
				    begins */
	char *note; /* set: what else its user should know, without a full stop, or NULL; owned */
};
static inline void setting_clear(struct setting *setting)
{
	free(setting->note);
}
#define cleanup_setting CLEANUP(setting_clear)
/* ERROR_USAGE: it is no value of this field. */
typedef int setting_function(struct deck *deck, const char *base, struct setting *setting,
			     struct error *err);

/* Also shown in the terminal of a live run.  ERROR_EXISTS: it is taken. */
setting_function lifecycle_set_title;
/* From the next start on the instance's conversation is this one; the present id goes to the
 * previous ones.  ERROR_INVALID: it runs, or the agent accepts no such id.  ERROR_EXISTS: it is
 * another instance's. */
setting_function lifecycle_set_session_id;
/* The directory of the agent's files of this session, with its conversation.  ERROR_INVALID: the
 * session runs, or its agent cannot be given a directory.  ERROR_NOT_FOUND: there is no such
 * directory, or the conversation is not in it. */
setting_function lifecycle_set_home;
/* Where its directory, which was renamed or moved, is now; of a session with a tree to itself, the
 * repository that the tree was made from.  ERROR_INVALID: the session runs.  ERROR_NOT_FOUND: there
 * is no such directory. */
setting_function lifecycle_set_path;
/* "": none. */
setting_function lifecycle_set_group;
/* container_change(), from its next start, which for an image or a mount costs what was written in
 * the old container. */
setting_function lifecycle_set_image, lifecycle_set_mount, lifecycle_set_secret;
/* The user's own words about it: UTF-8, at most 4096 bytes; "": none. */
setting_function lifecycle_set_notes;
/* From the next start on it runs this command, of the same agent.  ERROR_USAGE: another agent's, or
 * one that names or chooses a conversation.  ERROR_INVALID: a wrapper, while it is not known
 * whether the present conversation has begun. */
setting_function lifecycle_set_command;
/* From the next start on it runs this agent by the agent's own command.  ERROR_INVALID: it runs, or
 * has a conversation that must not be dropped. */
setting_function lifecycle_set_agent;
setting_function lifecycle_set_resume, lifecycle_set_restart;
/* What is undecided is decided by it, too (engine/run/ending.h). */
setting_function lifecycle_set_on_end;

/* Would the instance as it is now take this command? */
int lifecycle_check_command(struct deck *deck, const struct instance *instance,
			    const struct strvec *argv, struct error *err);

/* Rename a group: all sessions in it and below it ("": to none, with the groups below it at the
 * top). Killed in between, some are moved; a second call moves the rest. */
int lifecycle_move_group(struct deck *deck, const char *from, const char *to, size_t *ret_count,
			 struct error *err);
