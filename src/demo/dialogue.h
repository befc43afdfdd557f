/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo agent's conversation: its turns, its file, and the agent's replies.
 *
 *   <home>/projects/<slug of the directory>/<session id>.jsonl
 *
 * The file appears with the first turn.  The user's words are on disk before the reply is made,
 * unless the first turns are held back (late_turns).
 */
#pragma once

#include "base/text.h"

struct turn {
	bool by_user;
	char *text;
};

struct dialogue {
	/* Set by the caller; owned. */
	char *home, *cwd;
	const char *model, *system_prompt; /* borrowed; NULL: none */
	bool is_saved;                     /* false: write nothing */
	/* So many first turns are written only together with the next one. */
	int late_turns;
	/* Resume only from the directory of the conversation. */
	bool is_bound;
	/* The functions below set the rest. */
	char *session_id;
	char *folder; /* below <home>/projects */
	char *path;   /* of the transcript, whether or not it exists */
	struct turn *turns;
	size_t count, size;
	char *last_uuid;
	struct strbuf carried; /* the records that were read */
	bool is_fork;          /* copy them into another file with its first turn */
	bool torn;             /* the file does not end with a line break */
	struct strbuf late;    /* records that are held back */
};
void dialogue_free(struct dialogue *dialogue);
#define cleanup_dialogue CLEANUP(dialogue_free)

/* $AGENTDECK_DEMO_CONFIG_DIR, else the XDG data directory.  *ret is the caller's. */
int dialogue_find_home(char **ret, struct error *err);

/* A new conversation under this id: no turns, no file. */
void dialogue_begin(struct dialogue *dialogue, const char *session_id);

/* Whether a file for this id exists in the directory's folder, whatever its contents. */
bool dialogue_is_taken(const struct dialogue *dialogue, const char *session_id);

/* Read a conversation: one of any directory by its id, or the latest one of this directory.
 * DIALOGUE_ABSENT: there is none that has a turn. */
enum { DIALOGUE_ABSENT = 1 };
int dialogue_resume(struct dialogue *dialogue, const char *session_id, struct error *err);
int dialogue_resume_latest(struct dialogue *dialogue, struct error *err);

/* Move the conversation and its file to another directory, and change the process's own. */
int dialogue_move(struct dialogue *dialogue, const char *directory, struct error *err);

/* Continue under a new id, in a new file that begins with the records read so far. */
void dialogue_fork(struct dialogue *dialogue, const char *session_id);

/* Write the user's words to disk, durably. */
int dialogue_say(struct dialogue *dialogue, const char *text, struct error *err);

/* Write the records that were held back, as at an orderly end. */
int dialogue_flush(struct dialogue *dialogue, struct error *err);

/* Make the reply to the user's last words, and write it.  *ret is borrowed until dialogue
 * changes. */
int dialogue_reply(struct dialogue *dialogue, const char **ret, struct error *err);
