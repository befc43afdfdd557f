/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All conversations that an agent has on disk, also those of other programs, by what its entry says
 * of its files (model/agent/files.h).  They belong to the agent: this only reads.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "driver/transcript/transcript.h"
#include "model/agent/files.h"

#include <stdint.h>

/* Where the file of a conversation comes to in another home, below that: for an agent that is
 * started in launch (a real path).  was: where it is below the home that it is copied from; any
 * text, or NULL.  files: NULL, or those of the agent.  NULL: that is no place for a conversation
 * with this id, or they cannot be moved.  The caller frees. */
char *shelf_place(const struct agent_files *files, const char *session_id, const char *launch,
		  const char *was) MUST_USE;

struct shelf_item {
	char *path, *session_id;
	int64_t modified_ns;
};
struct shelf {
	struct shelf_item *items; /* newest first */
	size_t count;
	char *problem; /* what cannot be read, and why: the first such directory.  NULL: none */
};

/* List them by their names alone, without opening one: thousands cost some milliseconds.  Where the
 * names have no ids, the beginning of each is read.  A home that does not exist has none. */
int shelf_list(const struct agent_files *files, const char *home, struct shelf *ret,
	       struct error *err);
void shelf_free(struct shelf *shelf);
#define cleanup_shelf CLEANUP(shelf_free)

/* The newest with this id.  NULL: it is not there.  Borrowed. */
const struct shelf_item *shelf_find(const struct shelf *shelf, const char *session_id);

/* Find the file of the conversation with this id: hint (a path that the agent reported; NULL), if
 * that is its place; else its newest file that has a prompt or a reply; else its newest file. ret
 * gets the path, and the id as the file has it.  TRANSCRIPT_NONE: there is no such file.
 * ERROR_SYSTEM: the file may be in a place that cannot be read. */
int shelf_pick(const struct agent_files *files, const char *home, const char *session_id,
	       const char *hint, struct transcript *ret, struct error *err);

/* In the layout "projects": the newest conversation in the directory of cwd that has turns, whose
 * own "cwd" agrees, whose name is a UUID (files "agent-*" are sub-agents'), and for which
 * is_owned(session_id, data) is false.  TRANSCRIPT_NONE: there is none. */
int shelf_latest(const char *home, const char *cwd,
		 bool (*is_owned)(const char *session_id, void *data), void *data,
		 struct transcript *ret, struct error *err);

enum shelf_record {
	SHELF_NOTHING,
	SHELF_PROMPT, /* the user typed it */
	SHELF_TAG,    /* it looks like a tag: the agent added it, or the user typed a command */
	SHELF_REPLY,  /* the agent said it */
	SHELF_WORK,   /* the agent did something, or a tool of the agent */
};
/* Returns the kind of the record.  *ret is set for a prompt and a reply.  The caller frees its
 * text. */
enum shelf_record shelf_read(const struct agent_files *files, const struct json_object *record,
			     struct transcript_turn *ret);
/* The prompt that waits in the agent's queue, if the record says so.  The caller frees. */
char *shelf_queued(const struct agent_files *files, const struct json_object *record) MUST_USE;
/* For a record with a reply: does its turn continue? Does it report that the model failed? */
bool shelf_goes_on(const struct agent_files *files, const struct json_object *record);
bool shelf_is_error(const struct agent_files *files, const struct json_object *record);

/* The text in a record that the user typed, or the agent said.  False: neither.  The caller frees
 * the text.
 */
bool shelf_turn(const struct agent_files *files, const struct json_object *record,
		struct transcript_turn *ret) MUST_USE;

/* The text of the last reply, unchanged: the caller cleans control characters before printing.
 * TRANSCRIPT_NONE: no reply yet.  *ret and *ret_time (may be NULL; the record's time, "" without
 * one) are the caller's.  Here and below, files must say what the agent said. */
int shelf_last_reply(const struct agent_files *files, const char *path, char **ret, char **ret_time,
		     struct error *err);
/* The last turns that have text, at most max.  Looks at the last MiB of the file, however large it
 * is.  TRANSCRIPT_NONE: there are none. */
int shelf_last_turns(const struct agent_files *files, const char *path, size_t max,
		     struct transcript_turns *ret, struct error *err);

/* What a conversation says.  Lines after the first MiB are read only for the directory. */
struct shelf_about {
	char *directory; /* where it began; NULL: it does not say */
	char *words; /* the first text that was typed; NULL: not found in the part that was read */
	bool is_empty; /* all of it was read, and it has no turn */
	bool is_side;  /* an agent made it for itself: no user would resume it */
	char *model;   /* of the last reply; only of shelf_describe(), NULL: not known */
};
/* SHELF_GONE: there is no such file any more. */
enum { SHELF_GONE = 1 };
int shelf_look(const struct agent_files *files, const struct shelf_item *item,
	       struct shelf_about *ret, struct error *err);
/* Like shelf_look(), but also reads the last MiB of the file, for the model. */
int shelf_describe(const struct agent_files *files, const char *path, struct shelf_about *ret,
		   struct error *err);
void shelf_about_free(struct shelf_about *about);
#define cleanup_shelf_about CLEANUP(shelf_about_free)
