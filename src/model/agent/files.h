/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How an agent keeps its conversations on disk: which files they are, and what in them means what.
 * Paths are below the agent's home.
 */
#pragma once

#include "base/text.h"

/* NULL, or an empty list: the entry does not say.  "Member" is a path as for json_at(), in a record
 * of the file: a line that is a JSON object.  "Condition" is one for json_matches(). */
enum files_reach {
	FILES_STAY,     /* it is not known what else a conversation needs in another home */
	FILES_FOLLOW,   /* "projects": in the place of the directory that the agent is started in */
	FILES_BOUND,    /* in their place, and only from the directory where they began */
	FILES_ANYWHERE, /* in their place, from everywhere */
};

struct agent_files {
	/* The files: names with "*" for any text.  "{uuid}" (only a UUID) or "{session_id}" (any
	 * id) is where the id is; without either, id is the member of the first record with it. */
	char *conversation;
	char *id;
	/* The member with the directory where it began: of a record, or of the JSON file that
	 * directory_file names, from the directory of the conversation's file.  Without the member,
	 * that file's text is the directory. */
	char *directory, *directory_file;
	/* The condition of a record that the user typed, or that the agent said, and the member
	 * with its text: a string, or an array of objects with "text". */
	char *prompt, *prompt_text, *reply, *reply_text;
	/* Only in a layout: condition and text of a prompt that the agent took into the present
	 * turn, and of a prompt that waits in its queue.  Then the condition of a reply that is not
	 * the last of its turn, and of a reply that reports a failure of the model. */
	char *joined, *joined_text, *queued, *queued_text, *goes_on, *error;
	char *model;        /* only in a layout: the member of a reply with the name of the model */
	struct strvec skip; /* conditions of records that count for nothing */
	struct strvec side; /* of a record that says: the agent made this conversation for itself */
	/* The file that an agent keeps locked while it has the conversation open; "*" only in its
	 * last name. */
	char *lock;
	enum files_reach reach; /* where their agent finds them again; FILES_STAY: of an entry */
};

/* The files of a layout with a name (session.conversations of an entry); NULL: it is unknown.
 * Static. */
const struct agent_files *agent_files_named(const char *layout);
/* The layouts that agentdeck knows, for messages. */
#define AGENT_FILES_LAYOUTS "\"projects\", \"chats\", \"rollouts\""

/* The slots of conversation and lock. */
#define FILES_UUID_SLOT "{uuid}"
#define FILES_ID_SLOT   "{session_id}"

/* Does one name of the path fit this one of a pattern, up to patterns[length]?  *ret_id is set if
 * the pattern has a slot; the caller frees. */
bool agent_files_match(const char *pattern, size_t length, const char *name, char **ret_id);

/* What is wrong with a path of an entry; NULL: nothing. */
const char *agent_files_broken_path(const char *path);
const char *agent_files_broken_lock(const char *path);
const char *agent_files_broken_beside(const char *path);
const char *agent_files_broken_condition(const char *condition);
