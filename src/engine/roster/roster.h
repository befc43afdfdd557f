/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The roster: every session of a profile, or of all profiles, as it is now, and what changes.
 *
 * The roster reads manifests and looks at processes.  inotify(7) tells when a manifest is written
 * or an agent reports or prints (driver/follow/follow.h).  pidfd_open(2) tells when a tmux server
 * or an agent ends, because a process that is killed writes nothing down.  So nothing else has to
 * run, and nothing is polled, with two exceptions that last only as long as their cause:
 *
 *   a tmux server that did not answer               once a second, with ROSTER_LOOKS(_IF_OLD)
 *   a tmux server that may have missed the end of   it is made to look after 100 ms, then more and
 *   its agent (agentdeck-watch says how)            more seldom, at last every 51 s
 *
 * Sequence: roster_open(); roster_read() once, which adds what is there; from then on roster_read()
 * whenever order.due() says so.
 *
 * The roster has no loop: its sources are on the reader's (base/loop.h), beside the reader's
 * terminal, bus and timers.  A reader with another kind of loop waits for loop_descriptor().
 */
#pragma once

#include "base/loop.h"
#include "engine/deck/deck.h"
#include "engine/roster/view.h"

/* One session.  It belongs to the roster, and stays where it is until it is removed. */
struct roster_entry {
	const char *profile;  /* borrowed, as long as the roster is open */
	struct store *store;  /* of this profile; likewise */
	struct store_row row; /* what its manifest says */
	struct view view;     /* what it is now */
	/* of the activity where that is known, else of the state; since the Epoch, 0: unknown */
	int64_t since_us;
	/* with order.memory: the control group of its live server; else NULL */
	char *control_group;
	void *owner; /* the reader's own */
};

enum roster_what {
	ROSTER_ADDED,
	/* The manifest was written, one of the processes has ended, or another process has looked
	 * at the session: differs tells what is other than before, and may be 0. */
	ROSTER_CHANGED,
	/* Changed, but only by a report of its agent. */
	ROSTER_ACTIVITY,
	/* The session is gone: entry is as it was last known, and is freed after the call. */
	ROSTER_REMOVED,
	/* The server is there and the agent is not: the server was made to look. */
	ROSTER_NUDGED,
	/* With ROSTER_LOOKS_TELLS: something may have been printed since this was told last. */
	ROSTER_OUTPUT,
	/* The kernel has killed a process of it for lack of memory. */
	ROSTER_KILLED,
};

enum {
	ROSTER_TITLE = 1 << 0,
	ROSTER_STATE = 1 << 1, /* or whether it answers */
	ROSTER_DOING = 1 << 2, /* the activity */
	ROSTER_REASON = 1 << 3,
	ROSTER_HELD = 1 << 4,
	ROSTER_LISTED =
		1 << 5, /* group, agent, conversation, directory, tags, pin, archive, queue */
	ROSTER_WISH = 1 << 6,
	/* what listings show of it */
	ROSTER_SHOWN = ROSTER_TITLE | ROSTER_STATE | ROSTER_DOING | ROSTER_REASON,
};

struct roster_event {
	enum roster_what what;
	struct roster_entry *entry;
	unsigned differs; /* the time alone does not count */
	enum instance_state state_before;
	enum instance_activity activity_before;
	bool was_held;
};
/* The handler may not call roster_read() or roster_close().  NULL: no events are wanted. */
typedef void (*roster_handler)(const struct roster_event *event, void *context);

/* At screens (engine/screen/activity.h).  With a loop: when something was printed, at most once in
 * 2 s for each; else once. */
enum roster_looks {
	ROSTER_LOOKS_NOT,
	ROSTER_LOOKS_IF_OLD, /* where what is known is old, for at most ROSTER_PATIENCE_MS */
	ROSTER_LOOKS,        /* waits for the servers */
	ROSTER_LOOKS_TELLS,  /* ROSTER_OUTPUT: the reader looks, and does not wait */
};
enum { ROSTER_PATIENCE_MS = 1000 };

struct roster_order {
	/* Watch, on this loop, which outlives the roster, and call due() in it when there is
	 * something to read.  NULL: roster_read() shows what is there when it is called. */
	struct loop *loop;
	/* The first roster_read() only tells what is there.  due() comes at once after it: the
	 * second one begins to watch, then compares everything with what was told. */
	bool shows_first;
	void (*due)(void *context);
	const char *profile;      /* only this; NULL: all, also those that are made later */
	const struct strvec *ids; /* only these sessions; NULL: all.  Copied */
	enum roster_looks looks;
	bool asks;   /* ask a server that was silent again, each time for at most 2 s */
	bool memory; /* ROSTER_KILLED */
};

struct roster;

/* From here on nothing is missed (with order.shows_first: nothing that lasts until the second
 * roster_read()).  context is for both functions; deck outlives the roster. */
int roster_open(struct deck *deck, const struct roster_order *order, roster_handler handler,
		void *context, struct roster **ret, struct error *err);
void roster_close(struct roster *roster);
CLEANUP_OF(roster_closep, struct roster, roster_close);
#define cleanup_roster CLEANUP(roster_closep)

/* Give what has happened to the handler, and wait for nothing.  It does what it can also when it
 * fails, and a later call tries the rest again.  ERROR_NOT_FOUND: the state directory is gone, and
 * nothing more will come. */
int roster_read(struct roster *roster, struct error *err);

/* Have the next roster_read() look at this session, and tell of it as changed. */
void roster_look(struct roster_entry *entry);

/* There was no room for a look at what ROSTER_OUTPUT told: have it told again. */
void roster_look_later(struct roster_entry *entry);

/* All of them, in the order in which they were added: 0 to roster_count() - 1.  Borrowed. */
size_t roster_count(const struct roster *roster);
struct roster_entry *roster_at(const struct roster *roster, size_t index);
/* NULL: there is none.  profile NULL: of any. */
struct roster_entry *roster_find(const struct roster *roster, const char *profile, const char *id);
/* The row of one that runs; else NULL. */
const struct store_row *roster_running_row(const struct roster *roster, const char *id);
