/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session is now, as every list shows it: list, events, notices, the bus and the deck.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/session/instance.h"

struct json_object;

/* The name of a session among those of all hosts and profiles.  Borrowed. */
struct session_key {
	const char *host; /* NULL: this one */
	const char *profile, *id;
};

/* What a session is doing, the most urgent first. */
enum doing {
	DOING_ASKS,    /* a permission, a choice: its screen shows the question */
	DOING_WAITING, /* for its next words, as far as is known */
	DOING_ERROR,
	DOING_UNKNOWN, /* its server does not answer */
	DOING_BUSY,
	DOING_IDLE,
	DOING_RUNNING, /* and it is not known what it does */
	DOING_STARTING,
	DOING_STOPPING,
	DOING_ASLEEP, /* stopped by itself, until it is attached or gets a message */
	DOING_STOPPED,
	DOING_COUNT
};
/* One word; static. */
const char *doing_name(enum doing doing);
/* Was it stopped, or does it sleep? */
bool doing_is_at_rest(enum doing doing);
/* Does its agent live, as far as is known? */
bool doing_is_alive(enum doing doing);
/* Does it wait for its user, in whatever way? */
bool doing_waits(enum doing doing);
/* Does it need its user, as far as this tells? */
bool doing_needs_user(enum doing doing);

enum mark {
	MARK_HELD = 1 << 0,      /* it is not restarted automatically */
	MARK_SHARED = 1 << 1,    /* its conversation belongs to another session */
	MARK_CONTAINER = 1 << 2, /* it lives in a container */
	MARK_ELSEWHERE = 1 << 3, /* another machine runs it */
	MARK_UNDECIDED = 1 << 4, /* the user must decide about its work */
	MARK_WORKTREE = 1 << 5,  /* it has its own tree: a linked work tree */
	MARK_CLONE = 1 << 6,     /* or a repository */
	MARK_PINNED = 1 << 7,    /* its user wants it above others */
	MARK_ARCHIVED = 1 << 8,  /* out of sight */
};

/* Whether a session needs its user, and how much.  Every list shows those that do in this order. */
struct attention {
	enum doing doing;
	unsigned marks;
	int64_t since_us; /* 0: unknown, which is the latest */
	const char *id;
};
/* Beside what it does: it is held, or its end is undecided.  What is archived needs nothing. */
bool attention_is_needed(const struct attention *attention);
/* Below 0: a comes first.  The most urgent does, and of these the one that has waited longest. */
int attention_compare(const struct attention *a, const struct attention *b);

/* Texts are borrowed, and NULL where there is nothing to say. */
struct facts {
	struct session_key key;
	const char *title, *group, *agent, *directory, *session_id;
	const char *copy_of, *notes, *backend, *workspace; /* as in struct store_row */
	const char *tags;                                  /* model/session/tags.h */
	const char *container; /* its name, which may be that of another session; NULL: none */
	const char *status;    /* "running", ..., "unknown" */
	const char *activity;  /* of one that runs and answers */
	const char *reason;
	const char *move;      /* a word of move_state_words; NULL: it is not on its way */
	const char *move_host; /* to or from where */
	const char *held;      /* why it is not restarted automatically */
	const char *runs_on;   /* the other machine that has its run */
	const struct shared_conversation *shared; /* of one that runs in another's conversation */
	const struct seen_work *work;             /* in its own tree, when that was looked at */
	enum doing doing;
	enum instance_state state; /* as far as is known */
	unsigned marks;
	bool asks;             /* activity "waiting": for the answer to a question */
	bool is_desired;       /* it should run */
	bool is_old;           /* the activity may have changed */
	int64_t limited_until; /* µs since the Epoch; 0: no usage limit, or its end is not known */
	int64_t queued;        /* messages that wait until it is idle */
	bool is_asleep;        /* stopped while it was idle: attach and send wake it */
	bool is_undecided;     /* the user must decide what to do with its leftovers */
	bool asks_first;       /* there may be something to ask before it is started */
	/* of the activity where it is known, else of the state; since the Epoch, 0: unknown */
	int64_t since_us;
	int64_t state_since_us, activity_since_us; /* likewise */
	int64_t created_us, used_us;
	int64_t archived_us; /* 0: it is in sight */
};

/* Read what list and events print of a session, which may come from another host: its texts are
 * borrowed from the object, whose tags are one text then.  key.host stays NULL.  Only what the deck
 * shows is read.  False: its id is none of ours, or it says nothing of its state. */
bool facts_read(struct json_object *object, struct facts *ret);

/* Why it does not run, or what it does, for people; NULL: there is nothing to say. */
static inline const char *facts_reason(const struct facts *facts)
{
	return facts->held ? facts->held : facts->reason;
}
