/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations as agents keep them on disk: JSONL files in the layout "projects",
 *
 *   <config home>/projects/<slug of cwd>/<session id>.jsonl
 *
 * where each line is a JSON object and the first ones carry "cwd" and "sessionId".  A transcript
 * belongs to its agent: we only read it, and copy it when its user asks for that.  Lines may be
 * huge, and the last one may be torn (the agent was killed during a write); neither is an error.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/plan/resume.h"

#include <sys/types.h>

/* The directory name that the layout derives from a real path: every UTF-16 unit outside
 * [A-Za-z0-9-] becomes "-" (so a character beyond U+FFFF becomes two).  Of over 200 units the first
 * 200 remain, followed by "-" and a base-36 hash of the path (h = h * 31 + unit in 32 bits signed,
 * absolute value).  Not injective: never proof of anything.  The caller frees. */
char *transcript_slug(const char *real_path) MUST_USE;

struct transcript {
	char *path;
	char *session_id; /* base name without .jsonl */
	char *cwd;        /* first "cwd" in it, NULL if none */
	bool has_turns;   /* a record of type "user" or "assistant" that has a message */
	int64_t modified_ns;
};
void transcript_free(struct transcript *transcript);
#define cleanup_transcript CLEANUP(transcript_free)

enum { TRANSCRIPT_NONE = 1 };

/* Find the transcript of session_id: at hint (a path the agent reported; may be NULL) if it has
 * that name; then below config_home in the directory of cwd; then in any other project directory,
 * but there only if its own "cwd" is cwd.  TRANSCRIPT_NONE: there is none. */
int transcript_find(const char *config_home, const char *cwd, const char *session_id,
		    const char *hint, struct transcript *ret, struct error *err);

/* Look at the transcript in this file ("ID.jsonl"), no further than its first turn.
 * TRANSCRIPT_NONE: it is no file of ours. */
int transcript_look(const char *path, struct transcript *ret, struct error *err);

/* The agent's directory when it last wrote to the transcript at its present place: the last "cwd"
 * or "relocatedCwd" whose slug is the name of the file's directory.  TRANSCRIPT_NONE: there is
 * none. */
int transcript_last_directory(const char *path, char **ret, struct error *err);

/* Copy a transcript, durably, to where the agent looks for those of another directory (a real
 * path). Never overwrites a file.  TRANSCRIPT_TAKEN: a file of that name exists, and nothing was
 * done.  *ret is the path of the copy. */
enum { TRANSCRIPT_TAKEN = 1 };
int transcript_copy(const char *path, const char *config_home, const char *directory, char **ret,
		    struct error *err);

/* Like transcript_copy(), but for an open file, to a place below the home
 * ("projects/-work/ID.jsonl"), whose names are checked: no "..".  Makes the agent's home where
 * there is none.  Only the home and the first directory in it may be links. */
int transcript_put(int source, const char *config_home, const char *place, struct error *err);

/* Like transcript_put(), but a file that is there and is the beginning of the source is replaced by
 * it, which loses nothing.  TRANSCRIPT_TAKEN: another file is there. */
int transcript_grow(int source, const char *config_home, const char *place, struct error *err);

/* Copy the first `length` bytes of a transcript, without an incomplete last line, as the transcript
 * of another conversation.  The copy goes where the agent looks for the conversations of directory
 * (a real path). claude resumes it under the new id, whatever id its records have. *ret is the path
 * of the copy.  TRANSCRIPT_TAKEN as above. */
struct transcript_branch {
	const char *path;
	off_t length;
	const char *session_id; /* of the copy */
};
int transcript_branch(const struct transcript_branch *branch, const char *config_home,
		      const char *directory, char **ret, struct error *err);

/* Open a transcript for transcript_plant().  within: a directory that another user may write, and
 * that path must be below without any link; or NULL.  ERROR_INVALID: it is not a file of ours. */
int transcript_open(const char *within, const char *path, int *ret, struct error *err);

/* Copy the open transcript of this path, durably, into the config home of an agent that has not run
 * yet, to where it looks for those of directory (a real path).  TRANSCRIPT_TAKEN as above. */
int transcript_plant(int source, const char *path, int config_home, const char *directory,
		     struct error *err);

/* A text that the user typed, or that the agent said. */
struct transcript_turn {
	bool is_reply;
	char *text; /* unchanged */
};
struct transcript_turns {
	struct transcript_turn *items; /* in the order of the conversation */
	size_t count;
};
void transcript_turns_free(struct transcript_turns *turns);
#define cleanup_transcript_turns CLEANUP(transcript_turns_free)

/* Pass each record (a line that is a JSON object) to visit in the order of the file, until it
 * returns false, or no line begins before `most` bytes; 0: the whole file.  Of a line over 1 MiB,
 * long strings are cut.  TRANSCRIPT_NONE: there is no such file. */
int transcript_visit(const char *path, off_t most,
		     bool (*visit)(struct json_object *record, void *data), void *data,
		     struct error *err);

/* Like transcript_visit() for the whole file, but skips the lines for which may_help is false.
 * Skipped lines are not parsed, which saves the cost.  A string that is cut also keeps the first
 * piece for which wants is true (base/jsoncut.h). */
struct transcript_order {
	/* NULL: all lines may help, and no piece is wanted */
	bool (*may_help)(const char *line, void *data);
	bool (*wants)(const char *piece, size_t length, void *data);
};
int transcript_visit_some(const char *path, const struct transcript_order *order,
			  bool (*visit)(struct json_object *record, void *data), void *data,
			  struct error *err);

/* Pass each record behind the offset `from` to visit, the last one first, until it returns true. A
 * negative offset counts from the end.  TRANSCRIPT_NONE: it never did, or there is no such file. */
int transcript_visit_back(const char *path, off_t from,
			  bool (*visit)(const struct json_object *record, void *data), void *data,
			  struct error *err);
