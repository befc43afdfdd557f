/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What becomes of the sessions that another program has: each one is imported, or it is left where
 * it is for a reason.  docs/import.md describes it for users.
 *
 * A reader (driver/foreign) fills the rows with what the other program says.  The engine adds what
 * it finds on this machine (struct import_facts).  The plan follows from both alone.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

#include <stdint.h>

/* A conversation that the other program names for a session. */
struct import_id {
	char *id;
	bool is_guess; /* found by its directory: nothing says that it is this session's */
	bool is_open;  /* a process of this row's has it open */
	/* found on disk: */
	char *path;      /* its transcript; NULL: there is none */
	char *home;      /* the agent's home that has it */
	char *directory; /* where it began, when that is not the session's directory; else NULL */
	char *owner;     /* the session of agentdeck that has it; NULL: none */
};

/* What this machine says about a row. */
struct import_facts {
	char *directory; /* the real path; NULL: it does not exist, or cannot be looked up */
	char *obstacle;  /* why it cannot be looked up; NULL: it can */
	char *agent;     /* its entry in the registry */
	bool sees_files; /* the agent's conversations can be looked up on disk */
	bool takes_id;   /* the agent resumes a conversation by its id, from its usual place */
	/* the session that an earlier import made of it: title, id and profile; NULL: none */
	char *imported_as, *imported_id, *imported_profile;
	bool was_imported; /* an earlier import made a session of it, which was removed since */
	char *runs;        /* where it runs now; NULL: it does not */
	/* of what runs: */
	bool is_certain; /* it is this row's agent, and the first id is its conversation */
	bool can_join;   /* the session imported_id is stopped, and has that conversation */
	size_t find;     /* the engine's number of it */
	/* For IMPORT_HINT_ONLY: */
	size_t choices; /* conversations of its directory that may be its own */
	bool is_shared; /* another row has its agent and its directory, and no known conversation */
};

/* What the newest conversation of its directory is to a row whose own is not known. */
enum import_hint {
	IMPORT_HINT_GUESS,  /* it may be its own: the user decides */
	IMPORT_HINT_NEWEST, /* it is its own, as the directory is */
	IMPORT_HINT_ONLY,   /* it is its own if there is no other, and no other row to have it */
};

struct import_row {
	char *source; /* "agent-deck" */
	/* Tells it from every other row of every source, at each import.  The manifest keeps it. */
	char *origin;
	char *profile; /* NULL: the one that the user chose */
	char *title, *group, *notes;
	char *directory;
	char *tool;              /* the agent's name; NULL: the one that argv runs */
	struct strvec argv;      /* empty: the agent's own command */
	struct strvec arguments; /* after it */
	struct strvec dangers;   /* arguments that make the agent ask nothing; off by default */
	struct strvec homes;     /* the agent's homes to look in, best first; empty: its default */
	struct import_id *ids;   /* best first */
	size_t id_count;
	char *live_id; /* AGENTDECK_INSTANCE_ID of what runs in it; NULL: not known */
	char *parent;  /* the conversation that its own is a copy of; NULL: none */
	enum import_hint hint;
	bool needs_agent;   /* it becomes no session if its command is no agent's */
	bool is_dangerous;  /* argv is a line for a shell that makes the agent ask nothing */
	bool is_archived;   /* put away: it is never started automatically */
	char *refusal;      /* why nothing can become of it; NULL: something can */
	struct strvec told; /* what its user should know, each a line */
	int64_t created_at, last_used_at; /* µs since the Epoch; 0: not known */
	struct import_facts facts;
};

struct import_rows {
	struct import_row *rows;
	size_t count;
	struct strvec told; /* what holds for all of them: settings, hooks */
};

/* Append an empty row.  Borrowed until the next call. */
struct import_row *import_rows_add(struct import_rows *rows);
/* The conversation that its process has open, in this home, goes before all others. */
void import_row_set_open(struct import_row *row, const char *id, const char *home);
/* Append an id, unless the row has it or it is NULL or no session id. */
void import_row_add_id(struct import_row *row, const char *id);
void import_rows_free(struct import_rows *rows);
#define cleanup_import_rows CLEANUP(import_rows_free)

/* What the user agreed to. */
struct import_consent {
	bool guesses; /* --guess */
	bool dangers; /* --dangerous */
	bool again;   /* --again */
};

enum import_verdict {
	IMPORT_MAKE,     /* it becomes a session, which continues its conversation */
	IMPORT_FRESH,    /* it becomes a session, which has nothing to continue */
	IMPORT_DONE,     /* an earlier import made a session of it */
	IMPORT_REMOVED,  /* that session was removed here */
	IMPORT_RUNS,     /* its agent runs over there, and would have to be taken over */
	IMPORT_ASK,      /* the user must decide */
	IMPORT_CONFLICT, /* its conversation is another session's */
	IMPORT_REFUSE,   /* agentdeck cannot do what it does, or not now */
	IMPORT_VERDICTS
};

struct import_step {
	const struct import_row *row; /* borrowed */
	enum import_verdict verdict;
	const char *profile;           /* borrowed */
	char *title;                   /* unique in the profile; NULL: it becomes no session */
	char *group;                   /* "" for none */
	const struct import_id *taken; /* the conversation that it continues, or NULL; borrowed */
	char *why;                     /* one line; "" when there is nothing to say */
	bool drops_dangers;            /* it has some, and the user did not agree */
};

struct import_plan {
	struct import_step *steps; /* one for each row, in their order */
	size_t count;
};

/* Titles that exist already: "<profile>/<title>". */
struct import_target {
	const char *profile; /* for rows that name none */
	const struct strvec *titles;
	struct import_consent consent;
};

/* If several rows name a conversation, the row whose agent has it open gets it, else the row that
 * was used last. */
void import_plan(const struct import_rows *rows, const struct import_target *target,
		 struct import_plan *ret);
void import_plan_free(struct import_plan *plan);
#define cleanup_import_plan CLEANUP(import_plan_free)

/* Does the row become a session? */
bool import_is_made(const struct import_step *step);
/* Can its agent be taken over: into a new session, or into the one that was made of it? */
bool import_can_adopt(const struct import_step *step);
/* "import", "fresh", "done", "removed", "runs", "ask", "conflict", "refuse"; static. */
const char *import_verdict_name(enum import_verdict verdict);

/* A title as agentdeck takes it: no control characters, no white space at its ends, 1 to 250 bytes
 * of UTF-8; fallback where nothing is left.  The caller frees. */
char *import_title(const char *title, const char *fallback) MUST_USE;
/* Like import_title(), but for each name of a group; "" when nothing is left.  The caller frees. */
char *import_group(const char *group) MUST_USE;
