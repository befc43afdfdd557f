/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The instance: what a user named, and all that is known of it.  This is the record in
 * the manifest (docs/state-format.md); what can be read from the world at any moment is not in it.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/machine.h"
#include "base/process.h"
#include "base/termsize.h"
#include "base/text.h"
#include "model/session/move.h"
#include "model/session/reason.h"
#include "model/session/recipe.h"
#include "model/session/workspace.h"

#include <stdint.h>

/* INSTANCE_FORMAT_MOVE: of one that may not be started, which an older version would not know. */
enum { INSTANCE_FORMAT = 1, INSTANCE_FORMAT_MOVE = 2, INSTANCE_RESTARTS = 16 };

/* What is there, as far as the last look knew. */
enum instance_state {
	STATE_STOPPED,
	STATE_STARTING, /* the intent is written, the run is being made */
	STATE_RUNNING,
	STATE_STOPPING, /* the intent is written, the run is being ended */
	STATE_ERROR,    /* ended without being asked, or could not be started: see reason */
	STATE_COUNT
};

/* What the user asked for. */
enum instance_desired {
	DESIRED_STOPPED,
	DESIRED_RUNNING,
	/* as stopped, until attach, send or a start wakes it: engine/run/sleep.h */
	DESIRED_ASLEEP,
};

/* What a running agent is doing. */
enum instance_activity { ACTIVITY_UNKNOWN, ACTIVITY_BUSY, ACTIVITY_WAITING, ACTIVITY_IDLE };

/* Where the session id came from. */
enum session_origin {
	ORIGIN_NONE,
	ORIGIN_MINTED,  /* we made it and gave it to the agent */
	ORIGIN_ADOPTED, /* the user's own arguments carried it */
	/* a report, a note or the last words of the agent said so, or another session released it */
	ORIGIN_REPORTED,
	ORIGIN_DISCOVERED, /* found on disk when none was stored */
};

/* The ways to bring something back, in the order of the ladder. */
enum rung {
	RUNG_NONE,
	RUNG_RESUME,   /* resume the stored id */
	RUNG_ASSIGN,   /* launch with the stored id: nothing was written under it yet */
	RUNG_FRESH,    /* launch with a new id: history not restored */
	RUNG_CONTINUE, /* the agent's latest conversation, in an isolated home */
	RUNG_LAUNCH,   /* the plain command */
	RUNG_SHELL,    /* a shell in the same place */
	RUNG_COUNT
};

enum resume_policy {
	POLICY_AUTO,
	POLICY_CONFIRM,
	POLICY_NEVER,
	POLICY_DEFAULT, /* the agent's, else the general one: settings_resume_policy() */
};
/* Whether it is restarted automatically after it ended: model/plan/restart.h. */
enum restart_policy {
	RESTART_DEFAULT, /* the general one: settings->restart.policy */
	RESTART_NO,
	RESTART_ON_FAILURE,
	RESTART_ALWAYS, /* also when the agent ended by itself */
};

/* What becomes of what a session has when its agent ends by its own wish: model/plan/ending.h. */
enum end_policy {
	END_DEFAULT, /* the group's, else the general one: settings_end_policy() */
	END_ASK,     /* free what can be made again; ask before work would be lost */
	END_KEEP,    /* everything stays */
	END_CLEAN,   /* everything goes, unless work would be lost */
	END_COUNT
};

/* What kind of reason keeps it from being restarted automatically. */
enum hold {
	HOLD_NONE,
	HOLD_LIMIT,      /* it ended too often */
	HOLD_LOGIN,      /* its agent needs a login */
	HOLD_BACKGROUND, /* a background process of its agent has the conversation */
	HOLD_REFUSED,    /* its agent refuses for another reason */
	HOLD_OTHER,      /* one that another version wrote */
	HOLD_COUNT
};

/* A conversation that the agent has picked although another instance owns it.  Empty (session_id
 * NULL): none. */
struct shared_conversation {
	char *session_id;
	char *owner;   /* id of the instance that owns it */
	char *title;   /* the owner's, when it was seen */
	char *profile; /* the owner's; NULL: the same as the instance's */
	int64_t since; /* µs since the Epoch */
};

struct conversation {
	char *session_id; /* NULL: none known */
	enum session_origin origin;
	struct strvec previous; /* older ids, latest last */
	char *transcript_path;  /* as the agent reported it, or as it was found */
	bool first_turn_seen;   /* the agent reported a first prompt under session_id */
	int64_t captured_at;    /* µs since the Epoch, 0: never */
	char *forked_from;      /* id of the conversation that this one is a copy of, or NULL */
	/* How long that one's file was when this copy was made; 0: not known, or it is a copy on
	 * disk */
	int64_t forked_at;
	char *config_home; /* the agent's home at birth, part of the id's identity */
	/* it is the agent's default below the user's home directory, wherever that is by now */
	bool home_is_default;
	char *directory; /* that it is resumed in; NULL: the instance's cwd */
	/* id of one that a start left because resuming was off, until something is said in the one
	 * that it began instead; or NULL */
	char *set_aside;
	/* where the last run is or was; session_id is what a start resumes */
	struct shared_conversation shared;
};

/* One rung of a planned ladder, resolved: the id is in its slot of argv. */
struct attempt {
	enum rung rung;
	enum reason reason;
	char *other_reason; /* the word of another version, if reason is REASON_OTHER */
	char *session_id;   /* the id that this attempt runs under, or NULL */
	struct strvec argv;
};

/* One life: one tmux server, one scope, one boot.  Empty (socket NULL) when there is none.
 *
 * server is the process whose end is the end of the run: the tmux server, or in a container the
 * capsule, as this host sees it.  The tmux server of such a run is only a window onto it. */
struct run {
	char *id;                 /* random, tells this run's reports from older ones' */
	char *socket, *directory; /* of the tmux server; runtime directory of the run */
	char *unit;               /* NULL: not in its own scope */
	char *invocation_id;
	char *boot_id;
	/* NULL: not written down; base/machine.h */
	char *machine_id, *pid_namespace, *host;
	struct process_id server; /* see above */
	struct process_id pane;   /* the agent */
	/* the tmux server, where server is another process: a run with a capsule; pid 0: none */
	struct process_id window;
	char *capsule;            /* directory of the container's capsule, or NULL */
	struct attempt *attempts; /* the whole planned ladder */
	size_t attempt_count;
	size_t attempt;                /* index of the one that runs now */
	int64_t attempt_since;         /* µs since the Epoch */
	int64_t attempt_since_boot_ms; /* clock_ms(), valid within boot_id */
	/* the pane asks before it starts the first attempt: engine/run/offer.h */
	bool offer;
	bool reported; /* the agent reported a start in this attempt */
	/* the process that did: the agent below the pane's process, or that one; pid 0: unknown */
	struct process_id reporter;
	char *history_note; /* "history not restored: <why>", for the user; NULL when it was */
};

/* What both a row and an instance know of a run.  Texts are borrowed; NULL: not written down. */
struct place_run {
	char *id, *backend; /* of the instance */
	char *run_id;       /* not in a row */
	char *socket, *directory, *unit;
	char *boot_id, *machine_id, *pid_namespace, *host; /* base/machine.h */
	struct process_id server, pane;                    /* pid 0: not written down */
	struct process_id window;                          /* as in struct run */
	char *capsule;                                     /* not in a row */
};

struct exit_record {
	bool present;
	int code; /* exit status when signal is 0 */
	int signal;
	bool oom;
	char *oom_victim; /* "node (pid 4711)", or "the agent" where its name is not known */
	char *last_words; /* last lines of the screen, visible text */
};

/* What brought the session's container back last: model/plan/recreate.h. */
struct comeback {
	int64_t at;     /* µs since the Epoch; 0: it did not have to come back yet */
	unsigned tier;  /* 0 to 3 */
	enum rung rung; /* how its agent was started; RUNG_NONE: it never ended */
	char *lost;     /* with the container of before, for people; NULL: nothing */
};

/* What came of the end of its agent, which ended by its own wish: engine/run/ending.h. */
enum ending_stage {
	ENDING_NONE,      /* it did not, or a start came after it */
	ENDING_DUE,       /* not dealt with yet */
	ENDING_UNDECIDED, /* its user is to be asked: why */
	ENDING_KEPT,
	ENDING_FREED, /* what can be made again is gone */
	ENDING_OTHER, /* a word of another version */
	ENDING_COUNT
};
struct ending {
	enum ending_stage stage;
	int64_t at; /* when it came to this; microseconds since the Epoch */
	char *why;  /* of ENDING_UNDECIDED: what would be lost, or is not known; one line */
	char *seen; /* what its tree had that was nowhere else, when it was kept; else NULL */
};

/* A message that waits until its agent is idle: engine/run/queue.h. */
enum queued_state {
	QUEUED_WAITS,
	QUEUED_TYPING, /* the intent: whether it was typed is known only to the process that does */
	QUEUED_UNKNOWN, /* it was typed, and nothing proves that the agent took it */
	QUEUED_OTHER,   /* a word of another version */
	QUEUED_COUNT
};
enum { QUEUE_MAX = 16, QUEUE_TEXT_MAX = 16 << 10 };
struct queued {
	char *id; /* as that of an instance */
	char *text;
	int64_t at; /* µs since the Epoch */
	enum queued_state state;
	char *why;   /* QUEUED_UNKNOWN: what is known, one clause; or NULL */
	bool is_raw; /* as in struct delivery_request */
};

/* 0: nothing is said, so what is said elsewhere holds (settings_limits()); LIMIT_INFINITY: none,
 * whatever is said there. */
#define LIMIT_INFINITY INT64_MAX
struct limits {
	int64_t memory_high, memory_max; /* bytes */
	int64_t tasks_max, cpu_weight;
};

/* The place of a new instance.  There an instance's base is its id. */
#define PLACE_DEFAULT "host"
/* An instance there has a recipe. */
#define PLACE_CONTAINER "container"
/* In the container of another session.  An instance there has a recipe, which names that one. */
#define PLACE_GUEST "guest"

/* The agent of its user's that had a conversation before a take-over: while one of its processes
 * lives, no session resumes that conversation.  count 0: none. */
enum { TAKEN_MAX = 5 };
struct taken {
	/* the one that its user started, then those that this one launched, if it is a script */
	struct process_id processes[TAKEN_MAX];
	size_t count;
	char *boot_id, *machine_id, *pid_namespace; /* NULL: not written down; base/machine.h */
	char *session_id;                           /* the conversation; NULL: unknown */
};

struct instance {
	char *id, *profile, *title, *group, *cwd, *agent, *backend;
	char *notes; /* the user's own words about it, or NULL */
	char *tags;  /* model/session/tags.h */
	bool is_pinned;
	int64_t archived_at; /* µs since the Epoch; 0: never.  See instance_archived_at() */
	/* what another program had: struct import_row in model/plan/import.h; or NULL */
	char *imported_from;
	char *once; /* of the command that made or started it last: engine/deck/once.h; or NULL */
	/* id of the session whose agent launched it through mcp, or "user"; NULL: a person did */
	char *launched_by;
	char *base; /* name of its directory below the profile; the id for PLACE_DEFAULT */
	/* the id in a manifest that was copied into a directory of another name; else NULL */
	char *copy_of;
	/* in the trash, while undo gives it another title: the one that it was removed with */
	char *removed_title;
	/* in the trash: the same text for all that one command has removed; NULL: it was alone */
	char *removed_with;
	int64_t created_at, last_used_at; /* µs since the Epoch */
	struct strvec argv;               /* the user's own command and arguments */
	/* NAME=VALUE of the last start by hand, of variables that say where things are and hold no
	 * secrets: what a start after a restart of the machine has in the place of a login's
	 * environment. */
	struct strvec env_kept;
	/* Names of more variables that this start had and an agent may need.  Their values may be
	 * secrets, and are not kept. */
	struct strvec env_names;
	enum resume_policy resume_policy;
	enum restart_policy restart_policy;
	enum end_policy end_policy;
	char *sleep_after; /* as settings->sleep_after; NULL: that one */
	struct ending ending;
	struct queued *queue; /* the next one first */
	size_t queue_count;
	int64_t queue_said_at; /* when the last one was typed, µs since the Epoch; 0: none was */
	enum instance_desired desired;
	struct {
		enum instance_state state;
		int64_t since;
		char *reason;
		struct exit_record exit;
		char *boot_id, *machine_id, *pid_namespace, *host; /* where it was written */
		/* When it was last restarted automatically, in µs since the Epoch, latest last:
		 * model/plan/restart.h. */
		int64_t restarts[INSTANCE_RESTARTS];
		size_t restart_count;
		char *held;     /* why it is not restarted automatically any more; NULL: it is */
		enum hold hold; /* of held */
	} observed;
	struct conversation conversation;
	struct taken taken;
	struct move move;
	struct strvec resume_argv; /* resolved: would resume the stored id */
	struct termsize terminal;  /* of its user at the last start from one; 0: no such start */
	struct run run;
	struct limits limits;
	struct workspace *workspace; /* its own tree; NULL: the directory that its user named */
	struct recipe *recipe;       /* of its container; NULL: none, as for PLACE_DEFAULT */
	/* The engine's id of its container; its name while it is made; "": it had one, which was
	 * removed; NULL: it had none yet.  instance_has_container() */
	char *container_id;
	int64_t container_memory, container_pids; /* limits that it has; 0: none */
	struct comeback came_back;                /* of its container */
	struct json_object *unknown; /* the object this was read from: its other keys are kept */
};

static inline bool instance_has_container(const struct instance *instance)
{
	return !is_empty(instance->container_id);
}

/* Since when it is out of sight; 0: it is not.  What is to run is in sight, also if a version that
 * knows no archive has started it. */
static inline int64_t instance_archived_at(const struct instance *instance)
{
	const bool is_up = instance->observed.state == STATE_STARTING ||
			   instance->observed.state == STATE_RUNNING;
	return is_up || instance->desired == DESIRED_RUNNING ? 0 : instance->archived_at;
}

/* Is its agent's home in its directory, with what else its place needs? */
static inline bool instance_has_home(const struct instance *instance)
{
	return instance->recipe;
}

/* The base of the session whose container it lives in, if it has none of its own.  Borrowed. */
static inline char *instance_within(const struct instance *instance)
{
	return instance->recipe ? instance->recipe->within : NULL;
}

/* The directory of a guest's capsule, below that of its profile: "<base>/rooms/1", in that of the
 * session whose container it is.  NULL: it is no guest.  The caller frees. */
char *instance_room(const struct instance *instance) MUST_USE;
#define INSTANCE_ROOMS "rooms"

/* All zero but for the allocated struct itself; instance_free() takes NULL and half-built ones. */
struct instance *instance_new(void) MUST_USE;
void instance_free(struct instance *instance);
CLEANUP_OF(instance_freep, struct instance, instance_free);
#define cleanup_instance CLEANUP(instance_freep)

void run_clear(struct run *run);
#define cleanup_run CLEANUP(run_clear)
void ending_clear(struct ending *ending);
void taken_clear(struct taken *taken);
void move_clear(struct move *move);
/* id and host are copied. */
void move_set(struct move *move, enum move_state state, const char *id, const char *host,
	      int64_t now_us);
#define cleanup_taken CLEANUP(taken_clear)
/* From these processes of this boot, TAKEN_MAX at most.  session_id: NULL when their conversation
 * is unknown. */
void taken_set(struct taken *taken, const struct process_id *processes, size_t count,
	       const char *session_id);
bool taken_has(const struct taken *taken, const struct process_id *process);
enum taken_state {
	TAKEN_ENDED, /* or there is none */
	TAKEN_LIVES,
	TAKEN_ELSEWHERE, /* it is another machine's, so this one cannot know */
};
/* Does one of those very processes live?  *ret, unless NULL: which; of another machine the first. */
enum taken_state taken_look(const struct taken *taken, struct process_id *ret);
/* May it have this conversation?  session_id: NULL when that is unknown. */
bool taken_may_have(const struct taken *taken, const char *session_id);
/* Take this one out of its queue. */
void instance_drop_queued(struct instance *instance, size_t index);
/* NULL: it has no such message.  Borrowed. */
struct queued *instance_find_queued(const struct instance *instance, const char *id);
void exit_record_clear(struct exit_record *record);
void attempt_clear(struct attempt *attempt);
/* Append a copy of attempt to the run's ladder. */
void run_add_attempt(struct run *run, const struct attempt *attempt);
/* The attempt's reason as a word; NULL: there is none.  Borrowed. */
const char *attempt_reason(const struct attempt *attempt);
/* Like attempt_reason(), but for people. */
const char *attempt_why(const struct attempt *attempt);
/* The run's tmux server: the window of a run with a capsule, else its server.  Borrowed. */
const struct process_id *run_tmux_server(const struct run *run);
struct place_run place_run_of(const struct instance *instance);
/* The id that its run is about to take; NULL: it keeps the conversation's.  Borrowed. */
const char *instance_next_session_id(const struct instance *instance);
/* The attempt that runs now, NULL when there is no run.  Borrowed. */
const struct attempt *run_attempt(const struct run *run);
/* Is it only a shell in the agent's place? */
bool run_is_shell(const struct run *run);

/* Does the run belong to this boot, to an earlier one, or to another machine?  Every comparison of
 * a run's boot goes through this. */
enum machine_relation run_relation(const struct run *run);
/* Like run_relation(), but for the instance, which without a run belongs to the machine that saw
 * its end. */
enum machine_relation instance_relation(const struct instance *instance);
/* machine_name() of that machine.  The caller frees. */
char *instance_host(const struct instance *instance) MUST_USE;
/* "conversation X of 'title' (id)", with the profile when it is another one.  NULL: none is shared.
 * The caller frees. */
char *shared_conversation_text(const struct shared_conversation *shared) MUST_USE;
/* *ret is overwritten, and the caller clears it. */
void conversation_copy(const struct conversation *conversation, struct conversation *ret);
void run_copy(const struct run *run, struct run *ret);
void conversation_clear(struct conversation *conversation);
void shared_conversation_clear(struct shared_conversation *shared);

/* The directories of an instance, one for each question.  Today the first may differ from the
 * others, which are equal.  All are absolute, and borrowed. */
/* Where its agent is started. */
const char *instance_launch_directory(const struct instance *instance);
/* Where a new conversation of it begins: its agent files the transcript under this directory. */
const char *instance_transcript_directory(const struct instance *instance);
/* What it shares with another instance if their agent only knows "the latest of a directory". */
const char *instance_owner_directory(const struct instance *instance);
/* By which its user finds it, and which relative names in its argv refer to. */
const char *instance_lookup_directory(const struct instance *instance);

/* The user says which directory (a real path) the instance is for.  The directory that the
 * conversation was moved to stays. */
void instance_set_directory(struct instance *instance, const char *directory);
/* Resume its conversation in this directory. */
void instance_set_launch_directory(struct instance *instance, const char *directory);

/* Give the conversation another id: the old one goes to previous (once), first_turn_seen and
 * transcript_path start again.  The same id: it is written as session_id is, and the rest is left
 * as it was. Nothing is shared any more. */
void conversation_set_id(struct conversation *conversation, const char *session_id,
			 enum session_origin origin, int64_t now_us);

/* The manifest.  Unknown keys of what the instance was read from are kept at every level that we
 * write; those of a run, an attempt or an exit record go with it.  The caller puts the object. */
struct json_object *instance_to_json(const struct instance *instance) MUST_USE;
/* what names the source for messages; the instance keeps a reference to object.  ERROR_NEWER: a
 * format that we do not know.  ERROR_CORRUPT: a required member is missing or of the wrong type, or
 * a value has an unknown value. */
int instance_from_json(struct json_object *object, const char *what, struct instance **ret,
		       struct error *err);

/* The words of the enums, with NULL at the end, and each by its number; static.  The parsers return
 * false for others, *ret untouched. */
extern const char *const instance_state_words[];
extern const char *const instance_desired_words[];
extern const char *const instance_activity_words[];
extern const char *const session_origin_words[];
extern const char *const rung_words[];
extern const char *const resume_policy_words[];
extern const char *const restart_policy_words[];
extern const char *const end_policy_words[];
extern const char *const ending_stage_words[];
extern const char *const hold_words[];
extern const char *const queued_state_words[];
const char *instance_state_name(enum instance_state state);
const char *instance_desired_name(enum instance_desired desired);
const char *instance_activity_name(enum instance_activity activity);
const char *session_origin_name(enum session_origin origin);
const char *rung_name(enum rung rung);
const char *resume_policy_name(enum resume_policy policy);
const char *restart_policy_name(enum restart_policy policy);
const char *end_policy_name(enum end_policy policy);
const char *ending_stage_name(enum ending_stage stage);
const char *queued_state_name(enum queued_state state);
bool instance_activity_parse(const char *name, enum instance_activity *ret);
bool resume_policy_parse(const char *name, enum resume_policy *ret);
bool restart_policy_parse(const char *name, enum restart_policy *ret);
bool end_policy_parse(const char *name, enum end_policy *ret);
